import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// The words of errors: the cause, the place, and what would do instead.
@Suite struct MessagesTests {
  private func error<Value>(_ body: () async throws -> Value) async throws -> TaskError {
    try #require(await #expect(throws: TaskError.self) { try await body() })
  }

  private func refusal(_ status: HTTPStatus, _ headers: HTTPHeaders = [:]) async throws -> TaskError {
    let stub = StubServer(.status(status, headers))
    return try await error { try await GetWidget().on(stub.server).retry(.never).run() }
  }

  @Test func `a refusal says what its fields ask for`() async throws {
    #expect(try await refusal(405, ["Allow": "PUT, PATCH"]).reason == "405 Method Not Allowed: it allows PUT, PATCH")
    let challenge = #"Bearer realm="shop", error="invalid_token", Basic realm="shop""#
    #expect(
      try await refusal(401, ["WWW-Authenticate": challenge]).reason
        == "401 Unauthorized: it wants Bearer (invalid_token) or Basic")
    let part = try await refusal(416, [.contentRange: "bytes */2"])
    #expect(part.reason == "416 Range Not Satisfiable: it has bytes */2" && part.cause == .unsatisfiableRange)
    #expect(try await refusal(405).reason == "405 Method Not Allowed")
    #expect(try await refusal(404, ["Allow": "PUT", .contentRange: "bytes */2"]).reason == "404 Not Found")
  }

  @Test(arguments: [
    ("<!doctype html><html><head><TITLE>Out\n of order</Title></head><body>Sorry", "Out of order"),
    ("<html>No title at all</html>", "<html>No title at all</html>"),
    ("<html><title>cut", "<html><title>cut"),
  ]) func `a page as a refusal is shown by its title`(page: String, words: String) async throws {
    let response = HTTPResponse(
      500, url: .known("https://shop.test/"), headers: [.contentType: "text/html"],
      body: HTTPResponseBody(Data(page.utf8)))
    let server = Server(remote: "https://shop.test", transport: StubTransport { _ in response }, environment: [:])
    let error = try await error { try await PlainTask().on(server).run() }
    #expect(error.reason == "500 Internal Server Error: \(words)")
  }

  private struct Event: TaskPayload { let at: Date }

  @Test func `a date that is a text names the setting for dates`() async throws {
    let dated = StubServer(.json(#"{"at":"2026-11-23T20:00:00Z"}"#))
    let task = Endpoint<Void, Event>.get("events")
    let error = try await error { try await task.on(dated.server).download() }
    #expect(error.reason.hasSuffix("(a date is a number of seconds to a decoder without a dateDecodingStrategy)"))
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .secondsSince1970
    let other = StubServer(.json(#"{"at":"x"}"#)) { $0.defaultDecoder = decoder }
    #expect(
      try await !self.error { try await task.on(other.server).download() }.reason.contains("dateDecodingStrategy"))
  }

  @Test(arguments: ["not json", "{\"id\":7", "<widget/>"])
  func `a body of another format has a cause of its own`(text: String) async throws {
    let stub = StubServer(.data(Data(text.utf8), .plainText))
    let error = try await error { try await GetWidget().on(stub.server).download() }
    #expect(error.cause == .wrongFormat && error.reason.contains("It begins with: \(text)"), "\(error)")
  }

  @Test func `a line of JSON that does not fit is named by its number`() async throws {
    struct Entry: Decodable { let id: Int }
    let body = HTTPResponseBody(Data("{\"id\":1}\n\n{\"id\":\"x\"}\n".utf8))
    let error = try await error { for try await _ in body.jsonLines(of: Entry.self) {} }
    #expect(error.reason.hasPrefix("can't decode Entry from 10 bytes in line 3: at id: "), "\(error)")
    #expect(error.cause == .wrongShape)
  }

  @Test func `the end of a call is told without its request, which the record has in its title`() async throws {
    let stub = StubServer(.status(500))
    let error = try await error { try await GetWidget().on(stub.server).run() }
    let lines = error.record.summary.split(separator: "\n")
    #expect(
      lines.first?.hasPrefix(
        "GET https://shop.test/widgets/7: call failed: 500 Internal Server Error: the server failed, after ") == true)
  }

  @Test func `a limit is called by the setting that it was taken from`() async throws {
    let configuration = ServerConfiguration()
    func setting(
      _ timer: Timeouts.Timer, _ timeout: Duration = .inherited, _ limits: Timeouts = Timeouts()
    ) -> String? { Timeouts.setting(of: timer, timeout, limits, configuration) }
    #expect(setting(.attempt) == "defaultTimeout" && setting(.attempt, .seconds(3)) == "timeout")
    #expect(setting(.attempt, .inherited, Timeouts(attempt: .seconds(3))) == nil)
    #expect(setting(.idle) == "defaultTimeout" && setting(.idle, .seconds(3)) == "timeout")
    #expect(setting(.idle, .seconds(3), Timeouts(idle: .seconds(5))) == nil)
    #expect(setting(.firstByte, .seconds(3), Timeouts(firstByte: .seconds(5))) == "timeout")
    #expect(setting(.connect, .seconds(3), Timeouts(connect: .seconds(1))) == nil)
    #expect(setting(.queue, .seconds(3)) == nil && setting(.call, .seconds(3)) == nil)
    var error = TaskError.timeout(.idle, after: .seconds(3), phase: .receiving)
    #expect(error.reason.hasPrefix("the time limit 'timeouts.idle' of 3.000 s was exceeded, "))
    error.attributeLimit(to: "timeout")
    #expect(error.reason.hasPrefix("the time limit 'timeout' (for silence amid a body) of 3.000 s was exceeded, "))
    let deadline = TaskError.timeout(.call, after: .seconds(3), phase: .receiving)
    #expect(deadline.reason.hasPrefix("the deadline ('timeouts.call') of 3.000 s was exceeded, "))
  }

  @Test func `an endpoint is called by its method and path before it has a request`() async throws {
    let stub = StubServer()
    let task = Endpoint<Void, Widget>.get("widgets/7").timeout(.zero).on(stub.server)
    #expect(try await error { try await task.download() }.description.contains("GET widgets/7"))
    let named = task.named("Search")
    #expect(try await error { try await named.download() }.description.hasPrefix("Search: "))
  }

  @Test func `a server is shown by its remote`() {
    let server = Server(
      remote: Remote("https://shop.test/v1", name: "shop"), transport: StubTransport { .status(.ok, for: $0) },
      environment: [:])
    #expect("\(server)" == "Server(shop (https://shop.test/v1))")
  }

  @Test func `a server whose every call will fail says so when it is made`() {
    for address in ["127.0.0.1:18765", "shop.example.com/v1", "ht!tp://x y", "https://shop.test/v1#part"] {
      let lines = Shared<[String]>([])
      _ = StubServer(remote: Remote(address)) { $0.log = TextSink { line in lines.withLock { $0.append(line) } } }
      let told = lines.withLock { $0 }
      #expect(told.count == 1 && told.first?.hasPrefix("every call below the remote will fail: ") == true, "\(address)")
    }
  }

  @Test func `header fields and statuses are written as lists too`() async throws {
    let stub = StubServer(.status(404))
    try await PlainTask().header("Accept", "a/b").headers(["Accept": "c/d", "X-A": "1"]).accepting([.ok, .notFound])
      .on(stub.server).run()
    #expect(stub.requests.first?.headers["Accept"] == "c/d" && stub.requests.first?.headers["X-A"] == "1")
  }

  @Test(
    arguments: [
      (["Content-Length": "99"], Data(), "\"Content-Length\" is '99', and the body has 0 bytes"),
      (["content-length": "3"], Data("four".utf8), "is '3', and the body has 4 bytes"),
      (["Transfer-Encoding": "chunked"], Data("four".utf8), "\"Transfer-Encoding\" is the transport's"),
      (["Content-Length": "4"], Data("four".utf8), nil), (["Content-Length": "0"], Data(), nil),
    ] as [(HTTPHeaders, Data, String?)])
  func `a field for the length or the coding of a message says what is so, or is refused`(
    headers: HTTPHeaders, body: Data, words: String?
  ) throws {
    let request = HTTPRequest(
      .post, .known("https://shop.test/"), headers: headers, body: body.isEmpty ? .empty : .bytes(body))
    guard let words else { return try request.check() }
    let error = try #require(#expect(throws: TaskError.self) { try request.check() })
    #expect(error.code == .badRequest && error.isSurelyNotSent && error.reason.contains(words), "\(error)")
  }

  @Test func `a stream without a length cannot be given one by a field`() throws {
    let stream = HTTPBody.stream { AsyncThrowingStream<Data, any Error> { $0.finish() } }
    let request = HTTPRequest(.post, .known("https://shop.test/"), headers: ["Content-Length": "4"], body: stream)
    let error = try #require(#expect(throws: TaskError.self) { try request.check() })
    #expect(error.reason.contains("an unknown number of bytes"))
  }

  @Test func `the properties of an endpoint are never misspelled`() async throws {
    let task = Endpoint<Void, Void>.request(.post, "logout")
    let plan = TaskPlan(task)
    #expect(TaskSpelling.synonyms(in: plan, sending: HTTPRequest(.post, .known("https://shop.test/logout"))).isEmpty)
    struct Logout: ServerTask {
      let body = "all"
      var httpMethod: HTTPMethod { .post }
    }
    let other = HTTPRequest(.post, .known("https://shop.test/logout"))
    #expect(TaskSpelling.synonyms(in: TaskPlan(Logout()), sending: other).count == 1)
  }

  @Test func `fields that a sign-in has set are shown by no request`() {
    var request = HTTPRequest(.get, .known("https://shop.test/"), headers: ["X-Opaque": "s3cret", "X-A": "1"])
    request.options.credentialHeaders = ["X-Opaque"]
    #expect("\(request)" == "GET https://shop.test/\nX-Opaque: \(Redaction.mark)\nX-A: 1")
  }

  @Test func `what a refusal asks for is redacted, and shown only where fields are`() async throws {
    let challenge = #"Bearer error="access_token=s3cret has expired""#
    #expect(try await !refusal(401, ["WWW-Authenticate": challenge]).description.contains("s3cret"))
    let stub = StubServer(.status(405, ["Allow": "PUT"]))
    let hidden = try await error {
      try await GetWidget().on(stub.server).recording(.url).run()
    }
    #expect(hidden.reason == "405 Method Not Allowed")
  }

  private enum Kind: String, Decodable { case known }
  private struct Labelled: Decodable, Sendable { let kind: Kind }

  @Test func `the error of a body that is shown nowhere quotes no value of it`() async throws {
    let stub = StubServer(.json(#"{"kind":"s3cret"}"#))
    let task = Endpoint<Void, Labelled>.get("labels").on(stub.server)
    let shown = try await error { try await task.download() }
    #expect(shown.reason.contains("s3cret"), "what is no secret by its name is shown")
    let hidden = try await error { try await task.recording([.url, .headers]).download() }
    #expect(hidden.reason.hasSuffix(": at kind: the value does not fit"), "\(hidden)")
    let body = HTTPResponseBody(Data("{\"kind\":\"s3cret\"}".utf8))
    let line = try await error { for try await _ in body.jsonLines(of: Labelled.self) {} }
    #expect(line.reason == "can't decode Labelled from 17 bytes in line 1: at kind: the value does not fit")
  }

  @Test func `moments on the log are lines without signs that a terminal obeys`() {
    let lines = Shared<[String]>([])
    let trace = CallTrace(
      call: 1, task: "Odd", clock: CallClock(ManualClock(.autoAdvancing)), observers: [], logStyle: .steps,
      log: TextSink { line in lines.withLock { $0.append(line) } })
    trace.note(.retryRefused(reason: "a\u{1B}]0;title\u{7}\r\n#2 forged"))
    #expect(
      lines.withLock { $0 }.allSatisfy { !$0.contains("\u{1B}") && !$0.contains("\n") }
        && lines.withLock { $0.count } == 1)
  }
}
