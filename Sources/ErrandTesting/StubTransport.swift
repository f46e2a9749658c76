public import Errand
import ErrandFoundation

/// A transport without a network. Its responses are fixed, or come from a closure.
///
///     let stub = StubTransport([.status(503), .json(#"{"id": 7}"#)])
///     let shop = Server("https://shop.test", transport: stub)
///     _ = try await shop.send(GetWidget(id: 7))
///     #expect(stub.requests.count == 2)
public struct StubTransport: Transport {
  /// The maximum number of requests that are kept.
  private static let capacity = 1000

  private let answer: @Sendable (HTTPRequest) async throws -> HTTPResponse
  private let log = Shared<[HTTPRequest]>([])
  private let faults: Shared<ChaosSequence>?
  private let clock: CallClock

  /// Creates a transport that returns the same answer for every request.
  ///
  /// An answer that needs a connection, such as a truncated body, throws `TaskError` with code `.badRequest`.
  ///
  /// - Parameters:
  ///   - answer: The answer.
  ///   - chaos: The faults of the requests. Defaults to none.
  ///   - clock: The clock for delays. The timeouts `firstByte` and `attempt` apply to them. Defaults to real time.
  public init(_ answer: MockAnswer, chaos: Chaos? = nil, clock: CallClock = .continuous) {
    self.init(chaos: chaos, clock: clock) { request in try await answer.response(to: request, clock) }
  }

  /// Creates a transport that returns one answer per request, in this order.
  ///
  /// A request after the last answer throws `TaskError` with code `.badRequest`.
  ///
  /// - Parameters:
  ///   - answers: The answers.
  ///   - chaos: The faults of the requests. Defaults to none.
  ///   - clock: The clock for delays. The timeouts `firstByte` and `attempt` apply to them. Defaults to real time.
  public init(_ answers: [MockAnswer], chaos: Chaos? = nil, clock: CallClock = .continuous) {
    let left = Shared(answers[...])
    self.init(chaos: chaos, clock: clock) { request in
      guard let answer = left.withLock({ $0.popFirst() }) else {
        throw TaskError(
          .badRequest, "the stub has no answers left: it received more requests than it has answers", phase: .preparing)
      }
      return try await answer.response(to: request, clock)
    }
  }

  /// Creates a transport that calls `answer` for every request and rethrows its errors.
  ///
  /// - Parameters:
  ///   - chaos: The faults of the requests. Defaults to none.
  ///   - clock: The clock for the delays of `chaos`. Defaults to real time.
  ///   - answer: Returns the response to a request.
  public init(
    chaos: Chaos? = nil, clock: CallClock = .continuous,
    _ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
  ) {
    faults = chaos.map { Shared(ChaosSequence($0)) }
    self.clock = clock
    self.answer = answer
  }

  /// The requests received, oldest first. Only the newest 1,000 are kept.
  public var requests: [HTTPRequest] { log.withLock { $0 } }

  /// `true`, because a stub never connects to an address.
  public var checksAddresses: Bool { true }

  /// Returns the closure's response. Throws the closure's errors, and `CancellationError` if the task is cancelled.
  public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    try Task.checkCancellation()
    log.withLock { log in
      if log.count == Self.capacity { log.removeFirst() }
      log.append(request)
    }
    let fault = faults?.withLock { $0.next(request.method, request.url.path(percentEncoded: true)) }
    switch fault {
    case nil: return try await answer(request)
    case .delay(let delay):
      try await request.wait(delay, clock)
      return try await answer(request)
    case .cut(let part):
      var response = try await answer(request)
      response.body = HTTPResponseBody(CutBody(response.body, after: part))
      return response
    case .garbage:
      throw TaskError(.badResponse, "the stub's response has no status line", phase: .awaitingResponse)
    case .status(let status): return .status(status, for: request)
    case .stall: return try await MockAnswer.hang.response(to: request, clock)
    case .reset: return try await MockAnswer.reset.response(to: request, clock)
    }
  }
}

extension HTTPResponse {
  /// Returns a response with a JSON body.
  public static func json(
    _ text: String, status: HTTPStatus = .ok, headers: HTTPHeaders = [:], for request: HTTPRequest
  )
    -> HTTPResponse
  {
    var headers = headers
    headers.setDefault(MediaType.json.rawValue, for: .contentType)
    return HTTPResponse(status, url: request.url, headers: headers, body: HTTPResponseBody(Data(text.utf8)))
  }

  /// Returns a response without a body.
  public static func status(_ status: HTTPStatus, headers: HTTPHeaders = [:], for request: HTTPRequest) -> HTTPResponse
  {
    HTTPResponse(status, url: request.url, headers: headers)
  }
}
