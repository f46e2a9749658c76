extension CallMoment {
  /// A copy of the moment without anything that reveals the request's URL, such as addresses and failure descriptions.
  /// Used in recordings of tasks that hide their URL.
  package var withoutURL: CallMoment {
    switch self {
    case .connected: .connected(to: "")
    case .redirected: .redirected(to: RequestLine.hidden)
    case .attemptEnded(let number, let record): .attemptEnded(number, record.withoutURL)
    case .delayStarted(let delay, _): .delayStarted(delay, reason: RequestLine.hidden)
    case .networkWaitStarted: .networkWaitStarted(reason: RequestLine.hidden)
    case .retryRefused: .retryRefused(reason: RequestLine.hidden)
    case .callEnded(.failed): .callEnded(.failed(RequestLine.hidden))
    default: self
    }
  }
}

extension FlightRecord {
  /// A copy of the record without its title, and without anything in its moments that reveals the URL.
  package var withoutURL: FlightRecord {
    var record = self
    record.title = ""
    record.entries = entries.map { Entry(time: $0.time, moment: $0.moment.withoutURL) }
    return record
  }
}

extension AttemptRecord {
  fileprivate var withoutURL: AttemptRecord {
    var record = self
    record.failure = failure.map { _ in RequestLine.hidden }
    record.timings = timings?.withoutAddress
    return record
  }
}
