extension CallMoment {
  /// Returns the moments of a transfer until the request was sent, each with the time since the transfer started.
  static func phases(_ timings: TransferTimings) -> [(moment: CallMoment, time: Duration)] {
    var phases: [(CallMoment, Duration)] = []
    let hasConnected = timings.connect > .zero
    // If the connection was reused, `connect` equals `nameLookup` or is zero.
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
  fileprivate var peer: String {
    guard !remoteAddress.isEmpty else { return "" }
    let host = remoteAddress.contains(":") ? "[\(remoteAddress)]" : remoteAddress
    return remotePort == 0 ? host : "\(host):\(remotePort)"
  }
}
