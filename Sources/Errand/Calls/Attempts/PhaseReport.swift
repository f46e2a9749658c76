/// Reports the name lookup, connection, TLS handshake and request of one exchange, each with the time at which it
/// happened.
final class PhaseReport: Sendable {
  private let trace: CallTrace
  private let start: Duration
  /// Whether the host is a name, not an IP address.
  private let looksUp: Bool
  private let isReported = Flag()

  init(_ exchange: Attempt.Exchange.Admitted) {
    trace = exchange.exchange.attempt.call.trace
    start = exchange.start
    looksUp = PeerAddress(exchange.host.host) == nil
  }

  func report(_ timings: TransferTimings) {
    guard trace.isObserved, isReported.end() else { return }
    let now = trace.elapsed
    for (moment, time) in CallMoment.phases(timings) {
      if case .nameResolved = moment, !looksUp { continue }
      trace.emit(moment, at: min(start + time, now))
    }
  }
}
