import Errand
import ErrandTesting
import Foundation

/// An authenticator with numbered tokens and the service that issues them. Each refresh returns the next number. Only
/// the latest token is valid.
final class NumberedTokens: Authenticator {
  struct Refused: Error {}

  private struct State {
    var stored: Int?
    var valid: Int
    /// The token passed to each refresh.
    var replaced: [Int?] = []
    var failure: (any Error)?
    var cancelled = 0
    var forgotten = 0
    var endsAt: [Int: Date] = [:]
  }

  private let state: Shared<State>
  private let gate: Gate?
  /// The number of refreshes that have started.
  let begun = Counter()

  /// Starts with the token `stored`. The service accepts only the token `valid`. Refreshes wait for the gate, if any.
  init(stored: Int? = 1, valid: Int = 1, gate: Gate? = nil) {
    state = Shared(State(stored: stored, valid: valid))
    self.gate = gate
  }

  var replaced: [Int?] { state.withLock { $0.replaced } }
  var cancelled: Int { state.withLock { $0.cancelled } }
  var forgotten: Int { state.withLock { $0.forgotten } }

  /// Makes the service reject all current tokens.
  func revoke() { state.withLock { $0.valid += 1 } }

  /// Makes refreshes fail with `error`, or succeed again if it is `nil`.
  func fail(_ error: (any Error)?) { state.withLock { $0.failure = error } }

  func end(_ token: Int, at date: Date) { state.withLock { $0.endsAt[token] = date } }

  func isGood(_ request: HTTPRequest) -> Bool {
    request.headers["X-Numbered"] == "\(state.withLock { $0.valid })"
  }

  func answer(_ request: HTTPRequest) -> HTTPResponse {
    isGood(request) ? .ok(request) : .json(#"{"error":"token"}"#, status: 401, for: request)
  }

  func storedToken() async throws -> Int? { state.withLock { $0.stored } }

  func freshness(of token: Int, at now: Date) -> TokenFreshness {
    guard let end = state.withLock({ $0.endsAt[token] }) else { return .good }
    return now >= end ? .ended : now >= end.addingTimeInterval(-60) ? .expiring : .good
  }

  func apply(_ token: Int, to request: inout HTTPRequest) { request.headers["X-Numbered"] = "\(token)" }

  func refresh(_ token: Int?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> Int? {
    state.withLock { $0.replaced.append(token) }
    begun.add()
    await withTaskCancellationHandler {
      await gate?.wait()
    } onCancel: {
      gate?.open()
    }
    if Task.isCancelled {
      state.withLock { $0.cancelled += 1 }
      throw CancellationError()
    }
    if let failure = state.withLock({ $0.failure }) { throw failure }
    return state.withLock { state in
      state.valid = max(state.valid, (token ?? 0) + 1)
      return state.valid
    }
  }

  func forget() async throws { state.withLock { $0.forgotten += 1 } }
}
