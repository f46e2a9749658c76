import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Error messages state the cause, the location and a suggestion.
@Suite(.timeLimit(.minutes(1))) struct MessagesTests {
  private func error<Value>(_ body: () async throws -> Value) async throws -> TaskError {
    try #require(await #expect(throws: TaskError.self) { try await body() })
  }

  private func refusal(_ status: HTTPStatus, _ headers: HTTPHeaders = [:]) async throws -> TaskError {
    let stub = StubServer(.status(status, headers))
    return try await error { try await GetWidget().on(stub.server).retry(.never).run() }
  }

  @Test func `the error for a bad status quotes the header fields that explain the status`() async throws {
    #expect(
      try await refusal(405, ["Allow": "PUT, PATCH"]).reason
        == "405 Method Not Allowed: the allowed methods are PUT, PATCH")
    let challenge = #"Bearer realm="shop", error="invalid_token", Basic realm="shop""#
    #expect(
      try await refusal(401, ["WWW-Authenticate": challenge]).reason
        == "401 Unauthorized: the server expects Bearer (invalid_token) or Basic")
    let part = try await refusal(416, [.contentRange: "bytes */2"])
    #expect(part.reason == "416 Range Not Satisfiable: Content-Range is bytes */2" && part.cause == .unsatisfiableRange)
    #expect(try await refusal(405).reason == "405 Method Not Allowed")
    #expect(try await refusal(404, ["Allow": "PUT", .contentRange: "bytes */2"]).reason == "404 Not Found")
  }

  @Test(arguments: [false, true]) func `a nested call's error names its request unless its task is hidden`(
    isHidden: Bool
  ) async throws {
    struct Hidden: ServerGETTask, UnrecordedTask { let path = "tokens" }
    let tokens = StubServer(.status(404)).server
    let stub = StubServer(.status(200)) { settings in
      settings.preflight = { _, _ in
        if isHidden { try await Hidden().on(tokens).run() } else { try await GetWidget().on(tokens).run() }
      }
    }
    let refused = try await error { try await PlainTask().on(stub.server).run() }
    let url = "https://shop.test/widgets/7"
    #expect(
      refused.reason == (isHidden ? "404 Not Found" : "GET \(url), which this call depends on, failed: 404 Not Found"))
  }

  @Test(arguments: [
    ("<!doctype html><html><head><TITLE>Out\n of order</Title></head><body>Sorry", "Out of order"),
    ("<html>No title at all</html>", "<html>No title at all</html>"),
    ("<html><title>cut", "<html><title>cut"),
    ("<title>\n </title><body>Key revoked", "<title> </title><body>Key revoked"),
  ]) func `the error for an HTML error page quotes the page's title`(page: String, words: String) async throws {
    let response = HTTPResponse(
      500, url: .known("https://shop.test/"), headers: [.contentType: "text/html"],
      body: HTTPResponseBody(Data(page.utf8)))
    let server = Server("https://shop.test", transport: StubTransport { _ in response }, environment: [:])
    let error = try await error { try await PlainTask().on(server).run() }
    #expect(error.reason == "500 Internal Server Error: \(words)")
  }

  private struct Event: TaskPayload { let at: Date }

  @Test func `a decoding error for a text date suggests dateDecodingStrategy`() async throws {
    let dated = StubServer(.json(#"{"at":"2026-11-23T20:00:00Z"}"#))
    let task = Endpoint<Void, Event>.get("events")
    let error = try await error { try await task.on(dated.server).download() }
    let hint =
      "If the value is a date, set the decoder's dateDecodingStrategy: by default, dates are numbers of seconds. "
      + "It begins with: {"
    #expect(error.reason.contains(hint))
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .secondsSince1970
    let other = StubServer(.json(#"{"at":"x"}"#)) { $0.defaultDecoder = decoder }
    #expect(
      try await !self.error { try await task.on(other.server).download() }.reason.contains("dateDecodingStrategy"))
  }

  @Test(arguments: ["not json", "{\"id\":7", "<widget/>"])
  func `an error for a body in the wrong format has the cause .wrongFormat`(text: String) async throws {
    let stub = StubServer(.data(Data(text.utf8), .plainText))
    let error = try await error { try await GetWidget().on(stub.server).download() }
    #expect(error.cause == .wrongFormat && error.reason.contains("It begins with: \(text)"), "\(error)")
  }

  @Test func `the error for an invalid JSON line contains the line number`() async throws {
    struct Entry: Decodable { let id: Int }
    let body = HTTPResponseBody(Data("{\"id\":1}\n\n{\"id\":\"x\"}\n".utf8))
    let error = try await error { for try await _ in body.jsonLines(of: Entry.self) {} }
    #expect(error.reason.hasPrefix("can't decode Entry from 10 bytes in line 3: at id: "), "\(error)")
    #expect(error.cause == .wrongShape)
  }

  @Test func `the title of the summary names the request only once`() async throws {
    let stub = StubServer(.status(500))
    let error = try await error { try await GetWidget().on(stub.server).run() }
    let lines = error.record.summary.split(separator: "\n")
    #expect(
      lines.first?.hasPrefix(
        "GET https://shop.test/widgets/7: call failed: 500 Internal Server Error: the server failed, after ") == true)
  }

  /// Returns the text of a timeout error thrown by the transport.
  private func words(
    _ timer: Timeouts.Timer, after limit: Duration, _ timeout: Duration? = nil, _ limits: Timeouts = Timeouts()
  ) async throws -> String {
    let stub = StubServer(.failure(.timeout(timer, after: limit, phase: .waiting)))
    var task = PlainTask().on(stub.server).retry(.never).timeouts(limits)
    if let timeout { task = task.timeout(timeout) }
    let reason = try await error { try await task.run() }.reason
    return String(reason.prefix(upTo: try #require(reason.range(of: " of ", options: .backwards)?.lowerBound)))
  }

  @Test func `a timeout error names the setting that caused the timeout`() async throws {
    let (three, five, thirty) = (Duration.seconds(3), Duration.seconds(5), ServerConfiguration().defaultTimeout)
    #expect(try await words(.attempt, after: thirty) == "the time limit 'defaultTimeout'")
    #expect(try await words(.attempt, after: three, three) == "the time limit 'timeout'")
    #expect(
      try await words(.attempt, after: three, nil, Timeouts(attempt: three)) == "the time limit 'timeouts.attempt'")
    #expect(
      try await words(.attempt, after: five, three) == "the attempt's time limit",
      "the limit does not come from an attempt setting")
    var stated = ServerConfiguration()
    stated.timeouts.attempt = three
    #expect(
      Timeouts.setting(of: .attempt, three, three, Timeouts(), stated) == "timeout",
      "the task's timeout overrides the server's")
    #expect(Timeouts.setting(of: .attempt, three, .inherited, Timeouts(), stated) == "timeouts.attempt")
    #expect(
      try await words(.idle, after: thirty) == "the time limit 'defaultTimeout' (for pauses in the body)")
    #expect(
      try await words(.idle, after: five, three, Timeouts(idle: five)) == "the time limit 'timeouts.idle'")
    #expect(
      try await words(.firstByte, after: three, three, Timeouts(firstByte: five))
        == "the time limit 'timeout' (for the response head)")
    #expect(
      try await words(.firstByte, after: .seconds(60), nil, Timeouts(firstByte: .seconds(60)))
        == "the time limit 'timeouts.firstByte'")
    #expect(
      try await words(.connect, after: .seconds(1), three, Timeouts(connect: .seconds(1)))
        == "the time limit 'timeouts.connect'")
    let deadline = TaskError.timeout(.call, after: three, phase: .receiving)
    #expect(deadline.reason.hasPrefix("the deadline ('timeouts.call') of 3.000 s was exceeded "))
  }

  @Test func `the timeout error of a nested call names the nested call's setting`() async throws {
    let slow = StubServer(.failure(.timeout(.firstByte, after: .seconds(2), phase: .waiting)))
    let inner = PlainTask().on(slow.server).retry(.never).timeouts(Timeouts(firstByte: .seconds(2)))
    let outer = StubServer { $0.preflight = { _, _ in try await inner.run() } }
    let error = try await error { try await PlainTask().on(outer.server).timeout(.seconds(2)).run() }
    #expect(error.reason.contains("the time limit 'timeouts.firstByte' of 2.000 s"))
  }

  @Test func `an error that occurs before the request is built redacts secrets in the task's path`() async throws {
    let stub = StubServer {
      $0.redaction.fields.insert("ssn")
      $0.disabled = true
    }
    let task = Endpoint<Void, Void>.request(.get, "people?ssn=s3cret&page=1").on(stub.server)
    let error = try await error { try await task.run() }
    #expect(!"\(error)".contains("s3cret") && "\(error)".contains("page=1"))
  }

  @Test func `hides a custom decoding message if bodies are hidden`() async throws {
    struct Picky: TaskPayload {
      let id: Int
      init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        throw DecodingError.typeMismatch(
          Int.self, .init(codingPath: decoder.codingPath, debugDescription: "no '\(text)'"))
      }
    }
    func reason<Value: TaskPayload>(_ type: Value.Type, _ json: String) async -> String {
      let stub = StubServer(.json(json))
      let task = Endpoint<Void, Value>.get("x").on(stub.server).recording(.url)
      return await taskError { _ = try await task.download() }?.reason ?? ""
    }
    #expect(await reason([String: Picky].self, #"{"s3cret1":"s3cret2"}"#).hasSuffix("at *: the value is invalid"))
    let known = await reason([String: Int].self, #"{"s3cret1":"s3cret2"}"#)
    #expect(known.contains("at *: Expected to decode Int but found a string"), "\(known)")
    #expect(await reason(Widget.self, #"{"id":1}"#).hasSuffix("no key 'name'"))
  }

  @Test func `redacts secrets in a step's own error`() async throws {
    struct Signing: PerAttemptStep {
      let code: TaskError.Code
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        throw TaskError(code, "signer refused '\(request.url)', token: s3cret2", phase: .sending)
      }
    }
    for (code, hidesAll) in [(TaskError.Code("signer"), true), (.badResponse, false)] {
      let events = EventRecorder()
      let stub = StubServer(.status(.ok)) {
        $0.perAttemptSteps = [Signing(code: code)]
        $0.observers = [events]
      }
      let error = try await error { try await PlainTask(query: ["api_key": "s3cret1"]).on(stub.server).run() }
      let all = ["\(error)", "\(error.record)", error.attempts.first?.failure ?? ""] + events.moments()
      for text in all { #expect(!text.contains("s3cret1"), "\(text)") }
      #expect(error.reason.contains("signer refused 'https://shop.test/plain?api_key=<redacted>',"), "\(error.reason)")
      #expect(error.reason.contains("s3cret2") != hidesAll)
    }
    #expect(TaskError.Code("badURL") == .badURL && Set([TaskError.Code("badURL"), .badURL]).count == 1)
  }

  private struct Pair: TaskPayload {
    init(from decoder: any Decoder) throws {
      var list = try decoder.unkeyedContainer()
      _ = try (list.decode(Int.self), list.decode(Int.self))
    }
  }

  @Test func `hides a custom decoding message that resembles a decoder's`() async throws {
    struct Picky: TaskPayload {
      let id: Int
      init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        let context = DecodingError.Context(
          codingPath: decoder.codingPath, debugDescription: "Expected 16 digits but found '\(text)' instead")
        throw text.hasSuffix("1") ? DecodingError.dataCorrupted(context) : .typeMismatch(Int.self, context)
      }
    }
    for text in ["s3cret1", "s3cret2"] {
      let stub = StubServer(.json("\"\(text)\""))
      let task = Endpoint<Void, Picky>.get("x").on(stub.server).recording(.url)
      let reason = try await error { _ = try await task.download() }.reason
      #expect(reason.hasSuffix("the value is invalid"), "\(reason)")
    }
    let stub = StubServer(.json(#"{"id":null,"name":1}"#))
    let reason = try await error { _ = try await GetWidget().on(stub.server).recording(.url).download() }.reason
    #expect(
      reason.contains("found null instead of a value") || reason.contains("String but found a number"), "\(reason)")
    let short = StubServer(.json("[1]"))
    let ended = try await self.error {
      _ = try await Endpoint<Void, Pair>.get("x").on(short.server).recording(.url).download()
    }.reason
    #expect(ended.hasSuffix("the array has no element at this index"), "\(ended)")
  }

  @Test func `the event for a retry does not contain hidden header fields`() async throws {
    let events = EventRecorder()
    let stub = StubServer(.status(405, ["Allow": "s3cret"]), .status(.ok)) { $0.observers = [events] }
    let policy = RetryPolicy.decided { failure in failure.attempts.count < 2 ? .retry(after: .zero) : .giveUp }
    try await PlainTask().on(stub.server).retry(policy).recording(.url).run()
    let reported = events.moments().map { "\($0)" }.joined(separator: "\n")
    #expect(stub.requests.count == 2 && reported.contains("405") && !reported.contains("s3cret"))
  }

  @Test func `names an endpoint by method and path before the request is built`() async throws {
    let stub = StubServer()
    let task = Endpoint<Void, Widget>.get("widgets/7").timeout(.zero).on(stub.server)
    #expect(try await error { try await task.download() }.description.contains("GET widgets/7"))
    let named = task.named("Search")
    #expect(try await error { try await named.download() }.description.hasPrefix("Search: "))
  }

  @Test func `a server's description shows its remote`() {
    let server = Server(
      Remote("https://shop.test/v1", name: "shop"), transport: StubTransport { .status(.ok, for: $0) },
      environment: [:])
    #expect("\(server)" == "Server(shop (https://shop.test/v1))")
  }

  @Test func `creating a server with an unusable address logs a warning`() {
    for address in ["127.0.0.1:18765", "shop.example.com/v1", "ht!tp://x y", "https://shop.test/v1#part"] {
      let lines = Shared<[String]>([])
      _ = StubServer(remote: Remote(address)) { $0.log = LogOutput { line in lines.withLock { $0.append(line) } } }
      let reported = lines.withLock { $0 }
      #expect(
        reported.count == 1 && reported.first?.hasPrefix("calls to this server will fail: ") == true,
        "\(address)")
    }
  }

  @Test func `accepts dictionary and array literals for headers and statuses`() async throws {
    let stub = StubServer(.status(404))
    try await PlainTask().header("Accept", "a/b").headers(["Accept": "c/d", "X-A": "1"]).accepting([.ok, .notFound])
      .on(stub.server).run()
    #expect(stub.requests.first?.headers["Accept"] == "c/d" && stub.requests.first?.headers["X-A"] == "1")
  }

  @Test(
    arguments: [
      (["Content-Length": "99"], Data(), "\"Content-Length\" is '99', but the body has 0 bytes"),
      (["content-length": "3"], Data("four".utf8), "is '3', but the body has 4 bytes"),
      (["Transfer-Encoding": "chunked"], Data("four".utf8), "\"Transfer-Encoding\" is set by the transport"),
      (["Content-Length": "4"], Data("four".utf8), nil), (["Content-Length": "0"], Data(), nil),
    ] as [(HTTPHeaders, Data, String?)])
  func `rejects a wrong Content-Length and a Transfer-Encoding`(
    headers: HTTPHeaders, body: Data, words: String?
  ) throws {
    let request = HTTPRequest(
      .post, .known("https://shop.test/"), headers: headers, body: body.isEmpty ? .empty : .bytes(body))
    guard let words else { return try request.check() }
    let error = try #require(#expect(throws: TaskError.self) { try request.check() })
    #expect(error.code == .badRequest && error.wasNotSent && error.reason.contains(words), "\(error)")
  }

  @Test func `rejects a Content-Length for a stream without a length`() throws {
    let stream = HTTPBody.stream { AsyncThrowingStream<Data, any Error> { $0.finish() } }
    let request = HTTPRequest(.post, .known("https://shop.test/"), headers: ["Content-Length": "4"], body: stream)
    let error = try #require(#expect(throws: TaskError.self) { try request.check() })
    #expect(error.reason.contains("an unknown number of bytes"))
  }

  @Test func `reports misspelled properties of a task, but not of an endpoint`() async throws {
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

  @Test func `a request's description hides fields set by authentication`() {
    var request = HTTPRequest(.get, .known("https://shop.test/"), headers: ["X-Opaque": "s3cret", "X-A": "1"])
    request.options.credentialHeaders = ["X-Opaque"]
    #expect("\(request)" == "GET https://shop.test/\nX-Opaque: \(Redaction.mark)\nX-A: 1")
  }

  @Test func `redacts the explanation of a bad status and omits hidden fields`() async throws {
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

  @Test func `a decoding error does not quote values from a hidden body`() async throws {
    let stub = StubServer(.json(#"{"kind":"s3cret"}"#))
    let task = Endpoint<Void, Labelled>.get("labels").on(stub.server)
    let shown = try await error { try await task.download() }
    #expect(shown.reason.contains("s3cret"), "a value is shown if its name is not secret")
    let hidden = try await error { try await task.recording([.url, .headers]).download() }
    #expect(hidden.reason.hasSuffix(": at kind: the value is invalid"), "\(hidden)")
    let body = HTTPResponseBody(Data("{\"kind\":\"s3cret\"}".utf8))
    let line = try await error { for try await _ in body.jsonLines(of: Labelled.self) {} }
    #expect(line.reason == "can't decode Labelled from 17 bytes in line 1: at kind: the value is invalid")
  }

  @Test func `the timestamps of log lines never decrease`() {
    let lines = Shared<[String]>([])
    let clock = ManualClock()
    let trace = CallTrace(
      call: 1, task: "Odd", clock: CallClock(clock), observers: [], logStyle: .steps,
      log: LogOutput { line in lines.withLock { $0.append(line) } })
    trace.note(.callStarted, at: .zero)
    trace.emit(.nameResolved, at: .milliseconds(1))
    trace.note(.hedgeSent(2), at: .milliseconds(566))
    trace.emit(.secured, at: .milliseconds(2))
    trace.emit(.requestSent, at: .microseconds(566_200))
    trace.note(.decoded, at: .milliseconds(600))
    #expect(
      lines.withLock { $0 } == [
        "#1 Odd 0.000 s: call started", "#1 Odd 0.001 s: host name resolved",
        "#1 Odd 0.566 s: no response yet: starting attempt 2 concurrently",
        "#1 Odd 0.566 s: TLS handshake completed (at 0.002 s)",
        "#1 Odd 0.566 s: request sent", "#1 Odd 0.600 s: decoded",
      ])
  }

  @Test func `log lines contain no control characters`() {
    let lines = Shared<[String]>([])
    let trace = CallTrace(
      call: 1, task: "Odd", clock: CallClock(ManualClock(.autoAdvancing)), observers: [], logStyle: .steps,
      log: LogOutput { line in lines.withLock { $0.append(line) } })
    trace.note(.retryRefused(reason: "a\u{1B}]0;title\u{7}\r\n#2 forged"))
    #expect(
      lines.withLock { $0 }.allSatisfy { !$0.contains("\u{1B}") && !$0.contains("\n") }
        && lines.withLock { $0.count } == 1)
  }
}
