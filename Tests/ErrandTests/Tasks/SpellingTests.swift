import Errand
import ErrandTesting
import Foundation
import Testing

/// A task's settings, in every supported spelling.
@Suite(.timeLimit(.minutes(1))) struct SpellingTests {
  private func run(_ task: some ServerTask, on stub: StubServer) async throws {
    try await task.on(stub.server).run()
  }

  // MARK: Path

  private struct Segments: ServerTask {
    let label: String
    var path: [String] { ["label", label, "values"] }
  }

  private struct Interpolated: ServerTask {
    let label: String
    var path: String { "label/\(segment: label)/values" }
  }

  private func address(_ task: some ServerTask) async throws -> String {
    try await task.on(StubServer().server).url.absoluteString
  }

  @Test(arguments: ["a", "a/b", "a?b=c", "a#b", "50%", "%2F", "é", "a b", ";:@", "...", ".a"])
  func `escapes a value as a single path segment`(label: String) async throws {
    for address in [try await address(Segments(label: label)), try await address(Interpolated(label: label))] {
      let parts = address.split(separator: "/", omittingEmptySubsequences: false)
      #expect(parts.count == 6 && parts[3] == "label" && parts[5] == "values", "\(address)")
      #expect(parts[4].removingPercentEncoding == label && !parts[4].contains { "?#;:@ ".contains($0) })
    }
  }

  @Test(arguments: [".", ".."]) func `a path value that consists of dots fails the call`(label: String) async {
    await #expect(throws: TaskError.self) { try await address(Segments(label: label)) }
    await #expect(throws: TaskError.self) { try await address(Interpolated(label: label)) }
  }

  @Test func `an empty path segment fails the call`() async throws {
    struct User: ServerTask {
      let id: String
      var path: [String] { ["users", id] }
    }
    struct Keys: ServerTask {
      let id: String
      var path: String { "users/\(segment: id)/keys" }
    }
    #expect(try await address(User(id: "7")) == "https://shop.test/users/7")
    #expect(try await address(Keys(id: "7")) == "https://shop.test/users/7/keys")
    await #expect(throws: TaskError.self) { try await address(User(id: "")) }
    for id in ["", "\0"] { await #expect(throws: TaskError.self) { try await address(Keys(id: id)) } }
    await #expect(throws: TaskError.self) { try await address(Segments(label: "")) }
  }

  private struct Anywhere: ServerTask {
    let url: URL
  }

  @Test(arguments: ["", ".", ".."])
  func `an invalid segment in a URL or in the remote fails the call`(value: String) async throws {
    let stub = StubServer()
    let address = "https://shop.test/users/\(segment: value)/photo"
    let url = try #require(URL(string: address))
    for task in [Anywhere(url: url).on(stub.server).plan, URLTask(url).on(stub.server).plan] {
      let error = await #expect(throws: TaskError.self) { _ = try await ServerSnapshot.url(of: task) }
      #expect(error?.code == .badURL && error?.wasNotSent == true)
    }
    await stub.server.update { $0.remote = Remote(address) }
    let error = await #expect(throws: TaskError.self) { try await PlainTask(path: "x").on(stub.server).run() }
    #expect(error?.code == .badURL && error?.reason.contains("the remote") == true && stub.requests.isEmpty)
  }

  @Test(arguments: ["a?info_hash=%00%00%12", "a?b=%00%00", "v\(segment: "\0\0x")"])
  func `sends NUL characters unless they form an entire segment`(path: String) async throws {
    let stub = StubServer()
    try await PlainTask(path: path).on(stub.server).run()
    #expect(stub.urls == ["https://shop.test/\(path)"])
  }

  @Test(arguments: ["files/\(segment: "").txt", "files/v\(segment: "")", "search?q=\(segment: "")"])
  func `an empty interpolated value fails the call, even next to other text`(path: String) async {
    let stub = StubServer()
    let error = await #expect(throws: TaskError.self) { try await PlainTask(path: path).on(stub.server).run() }
    #expect(error?.code == .badURL && error?.reason.contains("an empty value") == true && stub.requests.isEmpty)
  }

  @Test(arguments: ["a/%2e%2E/b", "%2e", "a/.%2E"]) func `rejects segments of escaped dots`(path: String) async {
    struct Plain: ServerTask { let path: String }
    await #expect(throws: TaskError.self) { try await address(Plain(path: path)) }
  }

  // MARK: Header

  private struct Stale: ServerTask {
    let counter = Counter()
    var headers: [String: String] {
      counter.add()
      return ["X-Count": "\(counter.count)"]
    }
  }

  @Test func `recomputes a headers dictionary for every attempt`() async throws {
    let stub = StubServer(.status(503), .status(.ok))
    try await Stale().on(stub.server).run()
    let sent = stub.requests.map { $0.headers["X-Count"] }
    #expect(sent.count == 2 && sent[0] != sent[1])
  }

  private struct Turning: ServerTask {
    let counter = Counter()
    var query: HTTPQuery {
      counter.add()
      return ["turn": "\(counter.count)"]
    }
  }

  @Test func `recomputes the query for every attempt`() async throws {
    let stub = StubServer(.status(503), .status(.ok))
    try await Turning().on(stub.server).run()
    #expect(stub.urls.count == 2 && stub.urls[0] != stub.urls[1] && stub.urls[1].contains("?turn="))
  }

  // MARK: Other settings

  private struct Quick: ServerTask { let timeout: Duration? }
  private struct Coded: PayloadUploadingTask, PayloadDownloadingTask {
    typealias DownloadPayload = [String: Int]
    let uploadPayload = ["b": 1, "a": 2]
    let encoder = FormEncoder()
    let decoder = PropertyListDecoder()
  }

  @Test func `a timeout of nil inherits the server's timeout`() {
    #expect(Quick(timeout: nil).plan.timeout == .inherited && Quick(timeout: .seconds(3)).plan.timeout == .seconds(3))
  }

  @Test func `accepts an encoder and a decoder of concrete types`() async throws {
    let list = try PropertyListEncoder().encode(["c": 3])
    let stub = StubServer(.data(list, .propertyList))
    #expect(try await Coded().on(stub.server).download() == ["c": 3])
    #expect(stub.requests.first?.body.data == Data("a=2&b=1".utf8))
    #expect(stub.requests.first?.headers[.contentType] == "application/x-www-form-urlencoded")
  }

  @Test(arguments: [7, "x", [1], true] as [any Encodable & Sendable])
  func `a query or headers without names fail the call with the reason`(value: any Encodable & Sendable) async {
    struct Odd<Value: Encodable & Sendable>: ServerTask {
      let query: Value
      var headers: [String: String] { [:] }
    }
    struct Header<Value: Encodable & Sendable>: ServerTask { let headers: Value }
    func tasks(_ value: some Encodable & Sendable) -> [any ServerTask] { [Odd(query: value), Header(headers: value)] }
    for task in tasks(value) {
      let stub = StubServer()
      let error = await #expect(throws: TaskError.self) { try await run(task, on: stub) }
      #expect(error?.code == .encodingFailed && error?.reason.contains("name") == true && stub.requests.isEmpty)
    }
  }
}
