import Errand
import ErrandTesting
import Foundation
import Testing

/// Logs the hooks that are called.
private struct HookedTask: ServerGETTask, PayloadDownloadingTask {
  typealias DownloadPayload = Widget
  final class Log: Sendable {
    private let state = Shared<[String]>([])
    var lines: [String] { state.withLock { $0 } }
    func add(_ line: String) { state.withLock { $0.append(line) } }
  }

  let log: Log
  var path: String { "hooked" }

  func willStart() async { log.add("willStart") }
  func preflight(_ request: inout HTTPRequest) async throws { request.headers["X-Mine"] = "1" }
  func didStart(_ request: HTTPRequest) async {
    log.add("didStart \(request.url.path) \(request.headers["X-Mine"] ?? "-")")
  }
  func willRetry(after delay: Duration, attempts: [AttemptRecord]) async {
    log.add("willRetry after \(delay), \(attempts.compactMap { $0.status?.code })")
  }
  func didFail(with error: any Error) async {
    log.add("didFail \((error as? TaskError).map { "\($0.code.name) \($0.url ?? "")" } ?? "\(type(of: error))")")
  }
  func didComplete(with response: HTTPResponse) async { log.add("didComplete \(response.status.code)") }
}

@Suite(.timeLimit(.minutes(1))) struct HookTests {
  private let log = HookedTask.Log()

  @Test func `a successful call runs each hook once, even if the task is modified`() async throws {
    let stub = StubServer(.widget)
    _ = try await HookedTask(log: log).on(stub.server).timeout(.seconds(3)).header("A", "b").download()
    #expect(log.lines == ["willStart", "didStart /hooked 1", "didComplete 200"])
  }

  @Test func `calls willRetry with the delay and the failed attempts`() async throws {
    let stub = StubServer(.status(503), .status(502), .widget)
    _ = try await HookedTask(log: log).on(stub.server).retry(upTo: 5, after: .seconds(2)).download()
    #expect(
      log.lines == [
        "willStart", "didStart /hooked 1", "willRetry after 2.0 seconds, [503]",
        "willRetry after 2.0 seconds, [503, 502]", "didComplete 200",
      ])
  }

  @Test func `calls didFail once, regardless of the reason`() async throws {
    struct Refused: Error {}
    let stub = StubServer(.status(404))
    let task = HookedTask(log: log).on(stub.server)
    _ = try? await task.download()
    _ = try? await task.accepting(.all).download()
    await stub.server.update { $0.preflight = { _, _ in throw Refused() } }
    _ = try? await task.download()
    await stub.server.update { $0.disabled = true }
    _ = try? await task.download()
    #expect(
      log.lines == [
        "willStart", "didStart /hooked 1", "didFail badStatus https://shop.test/hooked",
        "willStart", "didStart /hooked 1", "didFail decodingFailed https://shop.test/hooked",
        "willStart", "didFail Refused", "willStart", "didFail disabled ",
      ])
  }

  @Test func `calls didFail once with CancellationError if the call is cancelled`() async throws {
    let asked = Counter()
    let transport = StubTransport { _ in
      asked.add()
      while true { try await Task.sleep(for: .seconds(3600)) }
    }
    let server = Server("https://shop.test", transport: transport, environment: [:])
    let call = Task { [log] in try await HookedTask(log: log).on(server).download() }
    await asked.reached(1)
    call.cancel()
    _ = try? await call.value
    #expect(log.lines == ["willStart", "didStart /hooked 1", "didFail CancellationError"])
  }

  @Test func `a stream completes when its body ends, and fails when its body fails`() async throws {
    let stub = StubServer(.data(Data("abc".utf8), .plainText))
    let recorder = EventRecorder()
    await stub.server.update { $0.observers = [recorder] }
    let response = try await HookedTask(log: log).on(stub.server).stream()
    #expect(log.lines == ["willStart", "didStart /hooked 1"])
    _ = try await response.body.collect()
    await recorder.balanced()
    #expect(await eventually { log.lines.count >= 3 })  // the hook is called after the event
    #expect(log.lines.last == "didComplete 200")

    let broken = StubTransport { HTTPResponse(url: $0.url, body: HTTPResponseBody(BrokenSource())) }
    let server = Server("https://shop.test", transport: broken, environment: [:])
    let stream = try await HookedTask(log: log).on(server).stream()
    _ = try? await stream.body.collect()
    #expect(await eventually { log.lines.count >= 6 })
    #expect(log.lines.last == "didFail connectionLost https://shop.test/hooked")
  }

  @Test func `a thousand concurrent calls run each of their hooks once`() async throws {
    let transport = StubTransport { request in
      await giveWay()
      try Task.checkCancellation()
      return .json(#"{"id":7,"name":"Sprocket"}"#, for: request)
    }
    let server = Server("https://shop.test", transport: transport, environment: [:])
    let calls = (0..<1000).map { _ in Task { [log] in try await HookedTask(log: log).on(server).download() } }
    for (number, call) in calls.enumerated() where number.isMultiple(of: 3) { call.cancel() }
    for call in calls { _ = try? await call.value }
    let counts = Dictionary(log.lines.map { ($0.prefix { $0 != " " }, 1) }, uniquingKeysWith: +)
    #expect(counts["willStart"] == 1000)
    #expect((counts["didFail"] ?? 0) + (counts["didComplete"] ?? 0) == 1000)
    #expect((counts["didStart"] ?? 0) >= (counts["didComplete"] ?? 0))
  }

  private struct InStock: ServerTask {
    var path: String { "widgets/7" }
    func verify(_ response: HTTPResponse) throws {
      throw TaskError(.badResponse, "it is sold out", response: response)
    }
  }

  @Test func `a hook's error has the status and the redacted header fields of its response`() async {
    let stub = StubTransport(.status(200, headers: ["X-Stock": "0", "Set-Cookie": "a=secret"]))
    let error = await taskError { try await InStock().on(Server("https://shop.test", transport: stub)).run() }
    #expect(error?.status == .ok && error?.headers["X-Stock"] == "0" && error?.phase == .finishing)
    #expect(error?.headers["Set-Cookie"]?.contains("secret") == false)
  }
}

private final class BrokenSource: HTTPBodySource {
  func next() async throws -> Data? { throw TaskError(.connectionLost, "lost", phase: .receiving) }
}
