import ErrandTesting
import Foundation
import Testing

@testable import Errand
@testable import ErrandInspection

@Suite(.timeLimit(.minutes(1))) struct HTTPLogWritingTests {
  /// A recorder that creates its calls on demand.
  private final class Late: CallRecorder {
    let makers = Shared<[@Sendable () -> RecordedCall]>([])

    func record(_ call: RecordedCall) {}

    func record(size: Int, later make: @escaping @Sendable () -> RecordedCall) { makers.withLock { $0.append(make) } }
  }

  @Test func `a recorder can create a recorded call after the call has ended`() async throws {
    let (late, calls) = (Late(), RecordedCalls())
    let stub = StubServer(.json(#"{"id":7,"name":"Sprocket","token":"planted"}"#)) { $0.recorders = [late, calls] }
    _ = try await GetWidget().on(stub.server).download()
    let makers = late.makers.withLock { $0 }
    #expect(makers.count == 1)
    let make = try #require(makers.first)
    let call = make()
    #expect(call == calls.calls.first && call.exchanges.count == 1 && !"\(call)".contains("planted"))
    #expect(call.moments.last?.text == "call succeeded with 200 OK")
  }

  @Test func `counts and logs calls that can't be written`() async throws {
    try await withFolder { parent in
      let lines = Shared<[String]>([])
      let log = try HTTPLog(in: parent, log: LogOutput { line in lines.withLock { $0.append(line) } })
      let stub = StubServer(.widget) { $0.recorders = [log] }
      _ = try await GetWidget().on(stub.server).download()
      await log.finish()
      #expect(log.lost == 0)
      try FileManager.default.moveItem(at: log.folder, to: parent.appendingPathComponent("away"))
      for _ in 0..<3 {
        _ = try await GetWidget().on(stub.server).download()
        await log.finish()
      }
      #expect(log.lost == 3)
      let said = lines.withLock { $0.dropFirst() }
      #expect(said.first?.hasSuffix(": No such file or directory") == true && said.count == 4, "\(said)")
      #expect(said.last?.hasSuffix("1 of 1 calls could not be written") == true)
    }
  }

  @Test func `files of calls missing from the page count towards the size limit`() async throws {
    try await withFolder { parent in
      let lines = Shared<[String]>([])
      let log = try HTTPLog(
        in: parent, maximumSize: 2000, log: LogOutput { line in lines.withLock { $0.append(line) } })
      let stub = StubServer(.widget) { $0.recorders = [log] }
      try FileManager.default.removeItem(at: log.page)
      for _ in 0..<20 {
        _ = try await GetWidget().on(stub.server).download()
        await log.finish()
      }
      let texts = try files(in: log.folder).filter { $0.hasSuffix(".txt") }
      #expect(texts.count < 10 && log.lost == 20, "\(texts)")
      let said = lines.withLock { $0 }
      #expect(said.count { $0.hasSuffix(": No such file or directory") } == 1)
      #expect(said.count { $0.contains("maximumSize of 2000 bytes") } == 1, "\(said)")
    }
  }

  @Test func `counts the calls that exceed the limit`() async throws {
    try await withFolder { parent in
      let log = try HTTPLog(in: parent, limit: 1, log: .discard)
      let stub = StubServer(.widget) { $0.recorders = [log] }
      for _ in 0..<3 { _ = try await GetWidget().on(stub.server).download() }
      await log.finish()
      #expect(log.lost == 2)
    }
  }

  @Test func `a page block shows its call with a truncated body`() async throws {
    let big = String(repeating: "é", count: 20_000)
    let calls = try await recordedCalls(.status(503), .json("{\"ab\":\"\(big)\\u0001\"}")) { server in
      let task = URLTask(.known("https://shop.test/a"), method: .put, headers: ["X-A": "b\t\"\\"])
      _ = try await task.on(server).retry(upTo: 1, after: .milliseconds(1500)).downloadData()
    }
    let call = try #require(calls.last)
    let (block, text) = pageBlock(of: call, file: "a \"b\".txt")
    let json = try #require(block.firstMatch(of: /^<script[^>]*>(.*)<\/script>\n$/)).1
    struct Entry: Decodable {
      struct Call: Decodable {
        struct Exchange: Decodable {
          struct Body: Decodable { let text: String, cut: Int? }
          let attempt: Int, sent: Double, request: String, response: String, responseBody: Body?, version: String?
        }
        let id: Int, task: String, method: String, status: Int, outcome: String, duration: Double, startedAt: Double
        let exchanges: [Exchange], timeline: String
      }
      let call: Call, file: String
    }
    let entry = try JSONDecoder().decode(Entry.self, from: Data(json.utf8))
    #expect(entry.file == "a \"b\".txt")
    #expect(entry.call.id == call.id && entry.call.task == "URLTask" && entry.call.status == call.status?.code)
    #expect(abs(entry.call.duration - call.duration.inSeconds) < 1e-6)
    #expect(abs(entry.call.startedAt - call.startedAt.timeIntervalSince1970) < 1e-5)
    #expect(entry.call.exchanges.count == 2 && entry.call.exchanges.map(\.attempt) == [1, 2])
    let last = try #require(entry.call.exchanges.last)
    #expect(abs(last.sent - (call.exchanges.last?.sent.inSeconds ?? 0)) < 1e-6)
    #expect(
      last.request.hasPrefix("PUT https://shop.test/a\n") && last.request.contains("\nX-A: b\t\"\\"), "\(last.request)")
    #expect(last.response.hasPrefix("200 OK after ") && last.response.hasSuffix("Content-Type: application/json"))
    // Truncated before a character that does not fit.
    let body = try #require(last.responseBody)
    let whole = try #require(call.exchanges.last?.response?.body?.text)
    #expect(whole.hasPrefix(body.text) && (LogPage.bodyLimit - 1...LogPage.bodyLimit).contains(body.text.utf8.count))
    #expect(body.cut == whole.utf8.count - body.text.utf8.count)
    #expect(entry.call.exchanges.first?.responseBody == nil)
    // The page shows what the file contains.
    for part in [last.request, last.response, body.text, entry.call.timeline] { #expect(text.contains(part)) }
    #expect(entry.call.timeline.split(separator: "\n").count == call.moments.count)
    #expect(zip(entry.call.timeline.split(separator: "\n"), call.moments).allSatisfy { $0.hasSuffix("  \($1.text)") })
  }

  @Test func `a page block separates trailers from the body and omits the bodies of a hidden exchange`() async throws {
    var call = try #require(
      try await recordedCalls(.json("{}")) { server in
        let task = URLTask(.known("https://shop.test/a"), method: .post, body: .text("a\nb"))
        _ = try await task.on(server).downloadData()
      }.first)
    call.exchanges[0].response?.trailers = ["X-Sum": "1"]
    func exchange(_ call: RecordedCall) throws -> [String: JSONValue]? {
      let json = try #require(pageBlock(of: call, file: "x").block.firstMatch(of: /^<script[^>]*>(.*)<\/script>\n$/)).1
      return try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8))["call"]?["exchanges"]?[0]?.object
    }
    let shown = try #require(try exchange(call))
    #expect(shown["trailers"]?.string == "X-Sum: 1" && pageBlock(of: call, file: "x").text.contains("{}\n\nX-Sum: 1\n"))
    #expect(shown["requestBody"]?["text"]?.string == "a\nb" && shown["responseBody"]?["text"]?.string == "{}")
    call.exchanges[0].url = nil
    (call.exchanges[0].body, call.exchanges[0].response) = (nil, nil)
    call.isHidden = true
    let hidden = try #require(try exchange(call))
    #expect(hidden["request"]?.string?.hasPrefix("POST <hidden>") == true)
    #expect(hidden["response"]?.string?.hasPrefix("No response") == true)
    #expect(Set(hidden.keys).isDisjoint(with: ["requestBody", "responseBody", "trailers"]))
  }

  @Test func `the page includes a curl command only if its script can't build the command`()
    async throws
  {
    let call = try #require(
      try await recordedCalls(.json("{}")) { server in
        _ = try await URLTask(.known("https://shop.test/a"), headers: ["X-A": "b"]).on(server).downloadData()
      }.first)
    func curl(_ change: (inout RecordedCall.Exchange) -> Void) throws -> (page: String?, library: String?) {
      var changed = call
      change(&changed.exchanges[0])
      let block = pageBlock(of: changed, file: "x").block
      let json = try #require(block.firstMatch(of: /^<script[^>]*>(.*)<\/script>\n$/)).1
      let page = try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8))["call"]?["exchanges"]?[0]?["curl"]?
        .string
      return (page, changed.exchanges[0].curlCommand())
    }
    #expect(try curl { _ in }.page == nil)
    for change in [
      { $0.method = "GE T" }, { $0.method = "GET\nX" }, { $0.url = "https://shop.test/\na" },
      { $0.headers["X-A"] = "a\nAuthorization: evil" }, { $0.headers.add("b", for: "X\nY") },
      { $0.headers.add("b", for: "") },
    ] as [(inout RecordedCall.Exchange) -> Void] {
      let (page, library) = try curl(change)
      #expect(page != nil && page == library)
    }
  }

  @Test func `saves a copy of the page with its text files`() async throws {
    try await withFolder { parent in
      let log = try HTTPLog(in: parent.appendingPathComponent("logs"))
      let stub = StubServer(.widget) { $0.recorders = [log] }
      for _ in 0..<2 { _ = try await GetWidget().on(stub.server).download() }
      await log.finish()
      let texts = try log.save(to: parent.appendingPathComponent("my page.html"))
      #expect(texts.lastPathComponent == "my page_files")
      #expect(try files(in: texts) == ["0001. GET Widget.txt", "0002. GET Widget.txt"])
      let page = try String(contentsOf: parent.appendingPathComponent("my page.html"), encoding: .utf8)
      #expect(page.contains("<body data-folder=\"my%20page_files/\">"))
      let original = try String(contentsOf: log.page, encoding: .utf8)
      #expect(original.contains("<body data-folder=\"\">") && page.count == original.count + "my%20page_files/".count)
      let error = await taskError { try log.save(to: URL(fileURLWithPath: "/proc/none/page.html")) }
      #expect(error?.code == .fileNotWritable, "\(error as Any)")
    }
  }
}
