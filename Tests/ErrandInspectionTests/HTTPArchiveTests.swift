import ErrandTesting
import Foundation
import Testing

@testable import Errand
@testable import ErrandInspection

@Suite(.timeLimit(.minutes(1))) struct HTTPArchiveTests {
  private static let url = URL.known("https://shop.test/a?x=1&y=a%20b&token=s3cret#end")

  @Test func `each request of a call has its own entry`() async throws {
    let calls = try await recordedCalls(.status(503), .status(302, [.location: "/widgets/8"]), .widget) { server in
      _ = try await GetWidget().on(server).retry(upTo: 1, after: .seconds(2)).comment("why").download()
    }
    let archive = HTTPArchive(calls)
    #expect(archive.entries.map(\.response.status) == [503, 302, 200] && archive.entries.map(\.attempt) == [1, 2, 2])
    #expect(archive.entries.map { $0.request.url.suffix(9) } == ["widgets/7", "widgets/7", "widgets/8"])
    #expect(archive.entries[1].response.redirectURL == "/widgets/8")
    let last = try #require(archive.entries.last)
    #expect(last.task == "GetWidget" && last.comment == "why" && last.response.statusText == "OK")
    #expect(last.response.content.text == #"{"id":7,"name":"Sprocket"}"# && last.response.content.size == 26)
    #expect((last.timeline?.count ?? 0) > 10, "\(last.timeline ?? [])")
    #expect(
      last.timeline?.contains("0.000 s  waiting 2.000 s to retry: 503 Service Unavailable") == true,
      "\(last.timeline ?? [])")
    let starts = try archive.entries.map { try Date($0.startedDateTime, strategy: RecordingEntry.dateFormat) }
    #expect(abs(starts[1].timeIntervalSince(starts[0]) - 2) < 0.01)
    #expect(archive.entries[0].timeline == nil, "only a call's last entry has the timeline")
  }

  @Test func `contains the fields that HAR requires, and no secrets`() async throws {
    let answer = StubLog.Answer.json(#"{"access_token":"s3cret"}"#)
    let calls = try await recordedCalls(answer) { server in
      let task = URLTask(
        Self.url, method: .post,
        headers: [.contentType: "application/json", .cookie: "a=s3cret", .authorization: "s3cret"],
        body: .text(#"{"password":"s3cret"}"#))
      _ = try await task.on(server).download()
    }
    let archive = HTTPArchive(calls)
    let data = try archive.data()
    let text = String(decoding: data, as: UTF8.self)
    #expect(!text.contains("s3cret"), "\(text)")
    let root = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    let log = try #require(root["log"] as? [String: Any])
    #expect(log["version"] as? String == "1.2" && (log["creator"] as? [String: Any])?["name"] as? String == "Errand")
    let entry = try #require((log["entries"] as? [[String: Any]])?.first)
    func missing(_ object: Any?, _ names: String) -> [String] {
      let object = object as? [String: Any]
      return names.split(separator: " ").map(String.init).filter { object?[$0] == nil }
    }
    // HAR 1.2: the required fields.
    #expect(missing(entry, "startedDateTime time request response cache timings") == [])
    let request = entry["request"] as? [String: Any]
    #expect(missing(request, "method url httpVersion cookies headers queryString headersSize bodySize postData") == [])
    #expect(missing(request?["postData"], "mimeType text") == [])
    let response = entry["response"] as? [String: Any]
    let names = "status statusText httpVersion cookies headers content redirectURL headersSize bodySize"
    #expect(missing(response, names) == [] && missing(response?["content"], "size mimeType") == [])
    #expect(missing(entry["timings"], "send wait receive blocked dns connect ssl") == [])
    #expect(request?["url"] as? String == "https://shop.test/a?x=1&y=a%20b&token=<redacted>")
    let query = request?["queryString"] as? [[String: String]]
    #expect(
      query?.map { $0["value"] } == ["1", "a b", "<redacted>"] && query?.map { $0["name"] } == ["x", "y", "token"])
  }

  @Test func `reproduces requests and responses from an exported archive`() async throws {
    let bytes = Data([0x89, 0x50, 0, 0xFF])
    let calls = try await recordedCalls(.data(bytes, "image/png"), .status(404, ["X-Mine": "a"])) { server in
      _ = try await PlainTask().on(server).downloadData()
      _ = try? await URLTask(.known("https://shop.test/b"), method: .put, body: .text("up")).on(server).download()
    }
    let archive = HTTPArchive(calls)
    let again = try HTTPArchive(data: archive.data())
    #expect(again == archive && again.entries[0].response.content.encoding == "base64")
    let responses = again.entries.map(\.httpResponse)
    #expect(try await responses[0]?.body.collect() == bytes && responses[0]?.status == .ok)
    #expect(responses[1]?.status == 404 && responses[1]?.headers["X-Mine"] == "a")
    let request = try #require(again.entries[1].httpRequest)
    #expect(request.method == .put && request.url.absoluteString == "https://shop.test/b")
    #expect(request.body.data == Data("up".utf8) && request.headers[.contentType]?.hasPrefix("text/plain") == true)
  }

  @Test func `writes a file that only its owner can read, even if it replaces a readable file`() async throws {
    try await withFolder { folder in
      let (file, archive) = (folder.appendingPathComponent("calls.har"), HTTPArchive(entries: []))
      for _ in 0..<2 {
        try archive.write(to: file)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try HTTPArchive(data: Data(contentsOf: file)) == archive)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
      }
      #expect(throws: TaskError.self) { try archive.write(to: folder) }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["calls.har"])
    }
  }

  @Test func `parses a browser's archive with missing required fields`() async throws {
    let text = #"""
      {"log":{"version":"1.2","pages":[],"entries":[
        {"_initiator":{"type":"other"},"_error":7,"request":{"method":"GET","url":"https://a.test/x",
         "headers":[{"name":":authority","value":"a.test"},{"name":"Accept","value":"*/*"}]},
         "response":{"status":200,"headers":[{"name":"content-encoding","value":"gzip"},{"name":"X-A","value":"1"}],
         "content":{"size":2,"mimeType":"text/plain","text":"aGk=","encoding":"base64"}},"timings":{"send":0,"wait":1.5,"receive":0}},
        {"request":{"method":"GET","url":"https://a.test/y"},"response":{"status":0}}]}}
      """#
    let archive = try HTTPArchive(data: Data(text.utf8))
    #expect(archive.entries.count == 2 && archive.entries[0].timings.total == 1.5 && archive.entries[0].failure == nil)
    #expect(archive.entries[0].httpRequest?.headers == ["Accept": "*/*"])
    let response = try #require(archive.entries[0].httpResponse)
    #expect(response.headers == ["X-A": "1"])
    #expect(try await response.body.collect() == Data("hi".utf8))
    #expect(archive.entries[1].httpResponse == nil)
    #expect(throws: DecodingError.self) { try HTTPArchive(data: Data("{}".utf8)) }
  }

  @Test
  func `parses form parameters as a body and rejects a missing body`()
    throws
  {
    func entry(_ postData: String, size: Int) throws -> HTTPArchive.Entry {
      let text =
        #"{"log":{"entries":[{"request":{"method":"POST","url":"https://a.test/","headers":[{"name":"X"}],"bodySize":\#(size),"postData":\#(postData)},"response":{"status":200}}]}}"#
      return try #require(try HTTPArchive(data: Data(text.utf8)).entries.first)
    }
    let form = try entry(
      #"{"mimeType":"application/x-www-form-urlencoded","params":[{"name":"a","value":"1"},{"name":"b","value":"x y"}]}"#,
      size: -1)
    #expect(form.httpRequest?.body.data == Data("a=1&b=x+y".utf8) && form.request.headers.map(\.value) == [""])
    #expect(try entry(#"{"mimeType":"text/plain","text":""}"#, size: 7).httpRequest == nil)
    #expect(throws: DecodingError.self) {
      try entry(#"{"mimeType":"multipart/form-data","params":[{"name":"a","fileName":"f"}]}"#, size: -1)
    }
    #expect(throws: DecodingError.self) {
      try entry(#"{"mimeType":"multipart/form-data; boundary=x","params":[{"name":"a","value":"b"}]}"#, size: -1)
    }
  }

  @Test(arguments: [
    (#""bodySize":5000"#, nil), (#""bodySize":-1,"headers":[{"name":"content-length","value":"5000"}]"#, nil),
    (#""bodySize":3,"postData":{"mimeType":"a/b","text":"AAAA=A!A","_encoding":"base64"}"#, nil),
    (#""bodySize":0"#, Data()), ("\"httpVersion\":\"HTTP/1.1\"", Data()),
    (#""bodySize":3,"postData":{"mimeType":"a/b","text":"AAAA","_encoding":"base64"}"#, Data([0, 0, 0])),
  ]) func `returns nil for a request whose body is not in the archive`(fields: String, body: Data?) throws {
    let text = #"{"log":{"entries":[{"request":{"method":"POST","url":"https://a.test/",\#(fields)},"response":{}}]}}"#
    let entry = try #require(try HTTPArchive(data: Data(text.utf8)).entries.first)
    #expect(entry.httpRequest.map { $0.body.data ?? Data() } == body)
  }

  @Test(arguments: [
    ("GET", #""content":{"size":5000,"mimeType":"a/b"}"#, nil),
    ("GET", #""content":{"size":3,"mimeType":"a/b","text":"AAAA=A!A","encoding":"base64"}"#, nil),
    ("GET", #""content":{"size":-1,"mimeType":"a/b","comment":"too large"}"#, nil),
    ("HEAD", #""content":{"size":5000,"mimeType":"a/b"}"#, Data()),
    ("HEAD", #""content":{"size":-1,"mimeType":"a/b"}"#, Data()),
    ("GET", #""content":{"size":0,"mimeType":"a/b"}"#, Data()),
    ("GET", #""content":{"size":2,"mimeType":"a/b","text":"hi"}"#, Data("hi".utf8)),
  ]) func `returns nil for a response whose body is not in the archive`(method: String, fields: String, body: Data?)
    async throws
  {
    let text =
      #"{"log":{"entries":[{"request":{"method":"\#(method)","url":"https://a.test/"},"response":{"status":200,\#(fields)}}]}}"#
    let response = try #require(try HTTPArchive(data: Data(text.utf8)).entries.first).httpResponse
    #expect(try await response?.body.collect() == body)
  }

  @Test(arguments: [204, 304]) func `returns a 204 or 304 response despite a declared size`(status: Int)
    throws
  {
    let text = """
      {"log":{"version":"1.2","entries":[{"startedDateTime":"2026-11-26T10:00:00Z","time":1,"request":{"method":"GET",
      "url":"https://a.test/","httpVersion":"HTTP/1.1","headers":[],"headersSize":-1,"bodySize":0},"response":{
      "status":\(status),"statusText":"","httpVersion":"HTTP/1.1","headers":[],"headersSize":-1,
      "bodySize":0,"content":{"size":5000,"mimeType":"a/b"}},"cache":{},"timings":{"send":0,"wait":1,"receive":0}}]}}
      """
    let archive = try HTTPArchive(data: Data(text.utf8))
    #expect(archive.entries.first?.httpResponse?.status.code == status)
  }

  @Test func `returns a 205 response of unknown size with an empty body`() async throws {
    let text = #"{"log":{"entries":[{"request":{"method":"GET","url":"https://a.test/"},"response":{"status":205}}]}}"#
    let response = try #require(try HTTPArchive(data: Data(text.utf8)).entries.first?.httpResponse)
    #expect(response.status == 205)
    #expect(try await response.body.collect().isEmpty)
  }

  @Test func `does not use Content-Length as the size of an unread body`() async throws {
    var calls = try await recordedCalls(
      .status(.ok, ["Content-Length": "8388608"]), .status(.ok, ["Content-Length": "0"])
    ) { server in
      for _ in 0..<2 { try await PlainTask().on(server).run() }
    }
    for index in calls.indices { calls[index].exchanges[0].response?.body = nil }
    #expect(HTTPArchive(calls).entries.map(\.response.bodySize) == [-1, 0])
  }

  @Test(arguments: [RecordingStyle.url, [.url, .headers]])
  func `a hidden body has an unknown size`(style: RecordingStyle) async throws {
    let calls = try await recordedCalls(.status(200), .status(200)) { server in
      let task = URLTask(Self.url, method: .post, body: .text("s3cret"))
      try await task.on(server).recording(style).run()
      try await URLTask(Self.url).on(server).recording(style).run()
    }
    let entries = HTTPArchive(calls).entries
    #expect(
      entries.map(\.request.bodySize) == [-1, 0] && entries[0].httpRequest == nil && entries[1].httpRequest != nil)
    let shown = try #require(calls.first)
    #expect(shown.exchanges[0].body?.type == nil && shown.exchanges[0].body?.size == nil)
    #expect("\(shown)".contains("<hidden body>") && !"\(shown)".contains("s3cret"), "\(shown)")
  }

  @Test func `parses an archive without a creator version or a response status`() throws {
    let text =
      #"{"log":{"creator":{"name":"x"},"entries":[{"request":{"method":"GET","url":"https://a.test"},"response":{}}]}}"#
    let archive = try HTTPArchive(data: Data(text.utf8))
    #expect(archive.creator.name == "x" && archive.creator.version.isEmpty && archive.entries[0].response.status == 0)
  }

  @Test func `creates folders and files that only their owner can access`() async throws {
    try await withFolder { folder in
      let place = folder.appendingPathComponent("new/one/calls.har")
      try HTTPArchive(entries: []).write(to: place)
      for (path, mode) in [("new", 0o700), ("new/one", 0o700), ("new/one/calls.har", 0o600)] {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.appendingPathComponent(path).path)
        #expect((attributes[.posixPermissions] as? Int) == mode, "\(path)")
      }
    }
  }

  @Test func `each request of a call has its own queue time`() async throws {
    let (calls, clock, gate) = (RecordedCalls(), ManualClock(), Gate())
    var configuration = ServerConfiguration()
    configuration.recorders = [calls]
    let server = Server(
      "https://shop.test", configuration: configuration,
      transport: StubTransport { request in
        if request.url.path == "/plain" { await gate.wait() }
        let isRedirect = request.url.path == "/widgets/7"
        return isRedirect
          ? .status(.found, headers: [.location: "/widgets/8"], for: request)
          : .json(#"{"id":7,"name":"w"}"#, for: request)
      }, manager: TaskManager(limits: ThrottleLimits(total: 1), clock: CallClock(clock)), environment: [:])
    async let first = PlainTask().on(server).run()
    #expect(await eventually { server.manager.runningCount == 1 })
    async let second = GetWidget().on(server).download()
    #expect(await eventually { server.manager.waitingCount == 1 })
    clock.advance(by: .seconds(1))
    gate.open()
    _ = try await (first, second)
    #expect(await eventually { calls.calls.count == 2 })
    let entries = HTTPArchive(calls.calls).entries.filter { $0.request.url.contains("widgets") }
    #expect(entries.map(\.timings.blocked) == [1000, 0], "\(entries.map(\.timings))")
    #expect(entries.map(\.time) == [1000, 0])
  }

  @Test func `exports failures, cached responses and hidden tasks`() async throws {
    let calls = try await recordedCalls(
      .lost, .status(.ok, [.cacheControl: "max-age=60"]), configure: { $0.cache = MemoryCache() }
    ) { server in
      _ = try? await GetWidget().on(server).retry(.never).download()
      for _ in 0..<2 { _ = try await PlainTask().on(server).downloadData() }
      _ = try await PlainTask(path: "s3cret").on(server).recording(.hidden).run()
    }
    let archive = HTTPArchive(calls)
    #expect(archive.entries.map(\.response.status) == [0, 200, 200] && archive.entries.map(\.attempt) == [1, 1, 0])
    #expect(archive.entries[0].failure?.contains("lost") == true && archive.entries[2].failure == nil)
    #expect(
      archive.entries[1].cacheUse?.contains("uri-miss") == true && archive.entries[2].cacheUse?.contains("hit") == true)
  }

  @Test func `an entry contains the address, sizes, cookies and resend flag`() async throws {
    var calls = try await recordedCalls(
      .status(.ok, ["Content-Length": "26", "Set-Cookie": "a=1; Path=/", "set-cookie": "b=2"]),
      configure: { $0.redaction = .none }
    ) { server in try await PlainTask().on(server).header("Cookie", "c=3; d=4").run() }
    var timings = TransferTimings()
    (timings.parts.remoteAddress, timings.parts.wasResent) = ("192.0.2.7", true)
    calls[0].exchanges[0].timings = timings
    var entry = try #require(HTTPArchive(calls).entries.first)
    #expect(entry.serverIPAddress == "192.0.2.7" && entry.wasResent == true && entry.response.bodySize == 26)
    #expect(entry.response.cookies.map { "\($0.name)=\($0.value)" } == ["a=1", "b=2"])
    #expect(entry.request.cookies.map { "\($0.name)=\($0.value)" } == ["c=3", "d=4"])
    timings.parts.remoteAddress = ""
    calls[0].exchanges[0].timings = timings
    entry = try #require(HTTPArchive(calls).entries.first)
    #expect(entry.serverIPAddress == nil)
    calls[0].exchanges[0].failure = "the body broke off"
    #expect(HTTPArchive(calls).entries.first?.response.bodySize == -1, "the size of an incomplete body is unknown")
    calls[0].exchanges[0].failure = nil
    calls[0].exchanges[0].method = .head
    #expect(
      HTTPArchive(calls).entries.first?.response.bodySize == 0,
      "the Content-Length of a HEAD response is not the size of its body")
  }

  @Test func `derives an entry's timings from the transfer`() {
    var timings = TransferTimings()
    (timings.nameLookup, timings.connect) = (.milliseconds(10), .milliseconds(30))
    (timings.secureConnect, timings.requestStart) = (.milliseconds(70), .milliseconds(71))
    (timings.firstByte, timings.lastByte) = (.milliseconds(171), .milliseconds(201))
    var exchange = RecordedCall.Exchange(attempt: 1, method: .get, sent: .zero)
    exchange.timings = timings
    exchange.queued = .milliseconds(5)
    var parts = HTTPArchive.Timings(exchange)
    #expect([parts.blocked, parts.dns, parts.connect, parts.ssl] == [5, 10, 60, 40])
    #expect([parts.send, parts.wait, parts.receive] == [1, 100, 30] && parts.total == 206)
    exchange.response = RecordedCall.Response(status: 200, isConnectionReused: true)
    parts = HTTPArchive.Timings(exchange)
    #expect([parts.dns, parts.connect, parts.ssl] == [-1, -1, -1] && parts.send == 1)
    // Nothing was received, so the remaining time counts toward the current phase.
    (timings.firstByte, timings.lastByte, exchange.response) = (.zero, .milliseconds(1), nil)
    (exchange.timings, exchange.ended) = (timings, .milliseconds(2076))
    parts = HTTPArchive.Timings(exchange)
    #expect([parts.blocked, parts.connect, parts.send, parts.wait, parts.receive] == [5, 60, 1, 2000, 0])
    (timings.requestStart, timings.secureConnect) = (.zero, .zero)
    exchange.timings = timings
    parts = HTTPArchive.Timings(exchange)
    #expect([parts.dns, parts.connect, parts.ssl, parts.send, parts.wait] == [10, 2061, 2041, 0, 0])
    timings.connect = .zero
    exchange.timings = timings
    parts = HTTPArchive.Timings(exchange)
    #expect([parts.dns, parts.connect, parts.ssl] == [10, 2061, -1] && parts.total == 2076)
    timings.nameLookup = .zero
    exchange.timings = timings
    #expect(HTTPArchive.Timings(exchange).dns == 2071)
    exchange.response = RecordedCall.Response(status: 200, isConnectionReused: true)
    exchange.timings = nil
    (exchange.answered, exchange.ended) = (.milliseconds(25), .milliseconds(40))
    parts = HTTPArchive.Timings(exchange)
    #expect([parts.blocked, parts.wait, parts.receive, parts.dns] == [5, 20, 15, -1])
  }

  @Test func `omits Content-Length from an imported request`() throws {
    let har = #"""
      {"log":{"version":"1.2","creator":{"name":"a","version":"1"},"entries":[{"startedDateTime":"2026-11-23T00:00:00Z","time":1,
      "request":{"method":"POST","url":"https://shop.test/a","httpVersion":"HTTP/1.1","cookies":[],"queryString":[],"headersSize":-1,
      "headers":[{"name":"Content-Length","value":"99"},{"name":"X-A","value":"1"}],"bodySize":99,
      "postData":{"mimeType":"text/plain","text":"four"}},
      "response":{"status":200,"statusText":"OK","httpVersion":"HTTP/1.1","cookies":[],"headers":[],"redirectURL":"","headersSize":-1,
      "bodySize":0,"content":{"size":0,"mimeType":""}},"cache":{},"timings":{"send":0,"wait":1,"receive":0}}]}}
      """#
    let request = try #require(try HTTPArchive(data: Data(har.utf8)).entries.first?.httpRequest)
    #expect(request.headers["X-A"] == "1" && !request.headers.contains(.contentLength))
    try request.check()
  }
}
