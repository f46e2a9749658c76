/// A piece of the way between a manager and a transport: sees each request on its way out and each response on its
/// way back, and may change either, answer by itself, or send more than once.
///
/// A step says in its type where it belongs: conform to ``PerCallStep`` or ``PerAttemptStep``.
public protocol Step: Sendable {
  /// The name by which other steps are placed before or after it; the name of its type unless stated.
  var name: String { get }

  /// Passes `request` on with `next` and returns the response.
  /// Throws what `next` throws, or an error of its own, which ends the attempt or the call.
  func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse
}

extension Step {
  /// The name of the type.
  public var name: String { "\(Self.self)" }
}

/// A step that sees a call once, however many attempts it takes.
public protocol PerCallStep: Step {}

/// A step that sees every attempt.
///
/// It holds no slot, so it may make calls. The body of the response is complete by then: in memory, or in a file for a download to a
/// file. Only a stream has its body still to be read.
public protocol PerAttemptStep: Step {}

/// The rest of the way, as a step sees it.
///
/// A step has one response at a time: calling `next` again ends the body of the response before it, and so does returning
/// another one. Their slots are free again, so that a step that sends twice needs no more than one.
public struct Next: Sendable {
  /// The body of the response that a step was given last.
  private final class Given: Sendable {
    private struct State {
      weak var body: HTTPResponseBody?
    }

    private let state = Lock(State())

    func keep(_ response: HTTPResponse) { state.withLock { $0.body = response.body } }

    func release() { state.withLock { $0.body }?.cancel() }

    /// Releases the last response where the step has returned another. One that comes from elsewhere may still read what it was given.
    func settle(for response: HTTPResponse) {
      guard response.body.isInMemory, let body = state.withLock({ $0.body }), body !== response.body else {
        return
      }
      body.cancel()
    }
  }

  private let steps: ArraySlice<any Step>
  private let last: @Sendable (HTTPRequest) async throws -> HTTPResponse
  private let given = Given()

  package init(_ steps: ArraySlice<any Step>, last: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) {
    self.steps = steps
    self.last = last
  }

  /// Sends `request` the rest of the way. May be called again, with the same request or another; the response before is
  /// released.
  public func callAsFunction(_ request: HTTPRequest) async throws -> HTTPResponse {
    given.release()
    let response = try await send(request)
    given.keep(response)
    return response
  }

  private func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    guard let step = steps.first else { return try await last(request) }
    let next = Next(steps.dropFirst(), last: last)
    let response = try await step.send(request, next: next)
    next.given.settle(for: response)
    return response
  }
}
