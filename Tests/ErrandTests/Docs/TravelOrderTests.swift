import Errand
import ErrandTesting
import Foundation
import Testing

/// Checks that the guide "How a task travels" lists the steps in the order of the code.
@Suite(.timeLimit(.minutes(1))) struct TravelOrderTests {
  /// Records events in the wording of the guide.
  private final class Log: Sendable {
    private let state = Shared<[String]>([])
    var lines: [String] { state.withLock { $0 } }
    /// Adds a line unless it repeats the previous one, because some properties are read several times.
    func add(_ line: String) { state.withLock { if $0.last != line { $0.append(line) } } }
  }

  private struct Noted: ServerPOSTTask, PayloadDownloadingTask {
    typealias DownloadPayload = Widget
    let log: Log
    var path: String {
      log.add("URL, query, header fields and body")
      return "noted"
    }
    func willStart() async { log.add("`willStart`") }
    func preflight(_ request: inout HTTPRequest) async throws { log.add("The task's `preflight`") }
    func didStart(_ request: HTTPRequest) async { log.add("`didStart`") }
    func verify(_ response: HTTPResponse) throws { log.add("The task's `verify`") }
    func postProcess(response: HTTPResponse) async throws { log.add("`postProcess`") }
    func postflight(response: HTTPResponse) async throws { log.add("the task's `postflight`") }
    func didComplete(with response: HTTPResponse) async { log.add("`didComplete`") }
  }

  private struct Once: PerCallStep {
    let log: Log
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      log.add("type ``PerCallStep``")
      return try await next(request)
    }
  }

  private struct Each: PerAttemptStep {
    let log: Log
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      log.add("type ``PerAttemptStep``")
      return try await next(request)
    }
  }

  private struct Decoder: PayloadDecoder {
    let log: Log
    func decode<Payload: Decodable>(_ type: Payload.Type, from data: Data) throws -> Payload {
      log.add("decoding")
      return try JSONDecoder().decode(type, from: data)
    }
  }

  private struct Ends: TaskObserver {
    let log: Log
    var delivery: ObserverDelivery { .inline }
    func observe(_ event: TaskEvent) { if case .callEnded = event.moment { log.add("end of the call is reported") } }
  }

  private func server(_ log: Log) -> Server {
    let transport = StubTransport { request in
      log.add("The transport sends it")
      return .json(#"{"id":7,"name":"Sprocket"}"#, for: request)
    }
    var configuration = ServerConfiguration()
    configuration.backgroundActivity = { _ in
      log.add("`backgroundActivity` is called")
      return { log.add("that `backgroundActivity` returned is called last") }
    }
    configuration.preflight = { _, _ in log.add("then the server's. Both") }
    configuration.perCallSteps = [Once(log: log)]
    configuration.perAttemptSteps = [Each(log: log)]
    configuration.verify = { _, _ in log.add("then the server's `verify`") }
    configuration.defaultDecoder = Decoder(log: log)
    configuration.postflight = { _, _ in log.add("the server's `postflight`. A stream") }
    configuration.observers = [Ends(log: log)]
    return Server("https://shop.test", configuration: configuration, transport: transport, environment: [:])
  }

  @Test func `the guide lists the steps in the order of the code`() async throws {
    let log = Log()
    _ = try await Noted(log: log).on(server(log)).download()
    #expect(log.lines.count == 18)
    let guide = DocumentedCode.package.appendingPathComponent("Sources/Errand/Errand.docc/HowATaskTravels.md")
    let text = try String(contentsOf: guide, encoding: .utf8).split { $0.isWhitespace }.joined(separator: " ")
    var rest = text[...]
    for words in log.lines {
      let place = try #require(rest.range(of: words), "the guide does not mention '\(words)' after the previous step")
      rest = rest[place.upperBound...]
    }
  }
}
