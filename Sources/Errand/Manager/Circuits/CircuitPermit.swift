/// Permission to send an attempt to a host with a circuit breaker. The permission ends once: with the attempt's result,
/// or without a result when the last reference is released.
final class CircuitPermit: Sendable {
  private let registry: CircuitRegistry
  private let host: Origin
  private let permit: Circuit.Permit
  private let settings: CircuitBreaker
  private let isOver = Flag()

  init(_ registry: CircuitRegistry, _ host: Origin, _ permit: Circuit.Permit, _ settings: CircuitBreaker) {
    self.registry = registry
    self.host = host
    self.permit = permit
    self.settings = settings
  }

  deinit { end(.unknown) }

  /// Ends a probe with the response's status, regardless of what happens to the body.
  func endProbe(_ status: HTTPStatus) { if permit.isProbe { end(Circuit.Result(status, .complete)) } }

  func end(_ result: Circuit.Result) {
    if isOver.end() { registry.leave(host, permit, result, settings) }
  }
}

extension Circuit.Result {
  init(_ status: HTTPStatus, _ ending: HTTPResponseBody.Ending) {
    if case .failed(let error) = ending { self = Self(error) } else { self = status.code >= 500 ? .failure : .success }
  }

  init(_ error: any Error) {
    guard let error = error as? TaskError else {
      self = .unknown
      return
    }
    switch error.code {
    case .cannotResolveHost, .cannotConnect, .connectionLost, .secureConnectionFailed, .badResponse, .truncatedBody:
      self = .failure
    case .timedOut: self = error.timer == .queue || error.timer == .call ? .unknown : .failure
    default: self = .unknown
    }
  }
}
