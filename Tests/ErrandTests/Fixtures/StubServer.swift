import Errand
import ErrandTesting
import Foundation

/// The requests that a stub transport received and its remaining answers.
final class StubLog: Sendable {
  private let state = Shared<(requests: [HTTPRequest], answers: [Answer])>(([], []))

  enum Answer: Sendable {
    case status(HTTPStatus, HTTPHeaders = [:])
    case json(String)
    case data(Data, MediaType, HTTPStatus = .ok)
    case failure(TaskError)
  }

  init(_ answers: [Answer]) { state.withLock { $0.answers = answers } }

  var requests: [HTTPRequest] { state.withLock { $0.requests } }

  /// Appends answers to the remaining answers.
  func enqueue(_ answers: [Answer]) { state.withLock { $0.answers += answers } }

  /// Returns the next answer. The last answer repeats.
  func answer(_ request: HTTPRequest) throws -> HTTPResponse {
    let answer = state.withLock { state in
      state.requests.append(request)
      return state.answers.count > 1 ? state.answers.removeFirst() : state.answers.first
    }
    switch answer {
    case .status(let status, let headers): return .status(status, headers: headers, for: request)
    case .json(let text): return .json(text, for: request)
    case .data(let data, let type, let status):
      let headers: HTTPHeaders = [.contentType: type.rawValue]
      return HTTPResponse(status, url: request.url, headers: headers, body: HTTPResponseBody(data))
    case .failure(let error): throw error
    case nil: return .status(.noContent, for: request)
    }
  }
}

/// A server with a stub transport, and the requests it received.
struct StubServer {
  let log: StubLog
  let server: Server
  let clock: ManualClock

  /// Creates a server in virtual time that advances automatically.
  init(
    _ answers: StubLog.Answer..., remote: Remote = "https://shop.test", clock: ManualClock.Mode = .autoAdvancing,
    limits: ThrottleLimits = ThrottleLimits(), configure: (inout ServerConfiguration) -> Void = { _ in }
  ) {
    let log = StubLog(answers)
    let time = ManualClock(clock)
    var configuration = ServerConfiguration()
    configuration.userAgent = "tests"
    configuration.log = .discard
    configure(&configuration)
    self.log = log
    self.clock = time
    server = Server(
      remote, configuration: configuration, transport: StubTransport { try log.answer($0) },
      manager: TaskManager(limits: limits, clock: CallClock(time), random: CallRandom(SeededGenerator(seed: 7))),
      asDefault: false)
  }

  var requests: [HTTPRequest] { log.requests }

  /// The requested URLs in order.
  var urls: [String] { requests.map(\.url.absoluteString) }
}

extension StubLog.Answer {
  static let widget = StubLog.Answer.json(#"{"id":7,"name":"Sprocket"}"#)

  /// A failed connection. Nothing was sent.
  static let refused = StubLog.Answer.failure(
    TaskError(.cannotConnect, "refused", phase: .connecting, wasNotSent: true))

  /// A lost connection. The request may have arrived.
  static let lost = StubLog.Answer.failure(TaskError(.connectionLost, "lost", phase: .awaitingResponse))
}
