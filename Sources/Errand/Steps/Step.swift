/// A step in the chain between a call and its transport. It receives each request before it is sent, and each response.
/// It may change either, answer a request itself, or send more than one request.
///
/// Conform to ``PerCallStep`` or ``PerAttemptStep``, not to this protocol. Your choice determines where the step runs.
public protocol Step: Sendable {
  /// The name used to place other steps before or after this step. Defaults to the name of the step's type.
  var name: String { get }

  /// Sends `request` with `next` and returns the response.
  /// Throws the error from `next`, or another error, which ends the attempt or the call.
  func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse
}

extension Step {
  /// Defaults to the name of the type.
  public var name: String { "\(Self.self)" }
}

/// A step that runs once per call, regardless of the number of attempts.
public protocol PerCallStep: Step {}

/// A step that runs for every attempt.
///
/// The attempt holds no slot while the step runs, so the step may make calls. The response body is already complete
/// and in memory, or in a file if the task downloads to a file, so it can be read several times. Only the body of a stream
/// is still unread. A step that reads a stream must return a response with another body.
///
/// A step can keep a response for later calls. Its body can be read after its call has ended only if it is in memory:
/// the file of a download and the body of a stream belong to their call.
public protocol PerAttemptStep: Step {}

/// The rest of the chain after a step.
///
/// A step has one response at a time. Calling `next` again, returning another response, or throwing closes the body of
/// the previous response and releases its stream. A step that sends two requests therefore never needs more than one
/// stream.
public struct Next: Sendable {
  private final class LastResponse: Sendable {
    private struct State {
      weak var body: HTTPResponseBody?
    }

    private let state = Lock(State())

    func keep(_ response: HTTPResponse) { state.withLock { $0.body = response.body } }

    func release() { state.withLock { $0.body }?.cancel() }

    /// Releases the last response if the step returned another one that is in memory. A response that is not in memory
    /// may still be reading from the last response.
    func settle(for response: HTTPResponse) {
      guard response.body.isInMemory, let body = state.withLock({ $0.body }), body !== response.body else {
        return
      }
      body.cancel()
    }
  }

  private let steps: ArraySlice<any Step>
  private let last: @Sendable (HTTPRequest) async throws -> HTTPResponse
  private let lastResponse = LastResponse()

  package init(_ steps: ArraySlice<any Step>, last: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) {
    self.steps = steps
    self.last = last
  }

  /// Sends `request` through the rest of the chain. Can be called again, with the same or another request. Each call
  /// releases the previous response.
  public func callAsFunction(_ request: HTTPRequest) async throws -> HTTPResponse {
    lastResponse.release()
    let response = try await send(request)
    lastResponse.keep(response)
    return response
  }

  private func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    guard let step = steps.first else { return try await last(request) }
    let next = Next(steps.dropFirst(), last: last)
    do {
      let response = try await step.send(request, next: next)
      next.lastResponse.settle(for: response)
      return response
    } catch {
      next.lastResponse.release()  // the step may keep it
      throw error
    }
  }
}
