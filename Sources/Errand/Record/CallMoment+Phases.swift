extension CallMoment {
  /// The moments before a response, as far as an exchange came, and when they were from its start.
  static func phases(_ timings: TransferTimings) -> [(moment: CallMoment, time: Duration)] {
    var phases: [(CallMoment, Duration)] = []
    let hasConnected = timings.connect > .zero
    // On a connection that is used again, nothing is looked up: both times are the same, or there is none for the connection.
    let isNew = hasConnected ? timings.connect > timings.nameLookup : timings.requestStart == .zero
    if timings.nameLookup > .zero, isNew {
      phases.append((.nameResolved, timings.nameLookup))
      if hasConnected { phases.append((.connected(to: timings.peer), timings.connect)) }
      if timings.secureConnect > .zero { phases.append((.secured, timings.secureConnect)) }
    }
    if timings.requestStart > .zero { phases.append((.requestSent, timings.requestStart)) }
    return phases
  }
}

extension TransferTimings {
  /// The other end's address and port, as in a URL; empty where they are not known.
  fileprivate var peer: String {
    guard !remoteAddress.isEmpty else { return "" }
    let host = remoteAddress.contains(":") ? "[\(remoteAddress)]" : remoteAddress
    return remotePort == 0 ? host : "\(host):\(remotePort)"
  }
}
