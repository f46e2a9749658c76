extension FlightRecord {
  /// The most likely cause of a failure or a slow success, with advice. `nil` if there is nothing to report.
  public var diagnosis: Diagnosis? { diagnosis(attempts) }

  func diagnosis(_ attempts: [AttemptRecord]) -> Diagnosis? { (cause ?? remark(attempts)).map { Diagnosis($0) } }

  private func remark(_ attempts: [AttemptRecord]) -> Diagnosis.Cause? {
    guard case .callEnded(.succeeded) = entries.last?.moment else { return nil }
    if attempts.contains(where: \.wasResent) { return .staleConnection }
    if attempts.count > 1 { return .retried }
    let (queued, elapsed) = (attempts.reduce(.zero) { $0 + $1.queued }, entries.last?.time ?? .zero)
    return queued > .milliseconds(100) && queued * 2 > elapsed ? .waitedForSlot : nil
  }

  /// A summary of about ten lines: one per attempt with its timings, and one per event in between, such as a wait for a
  /// token, a redirect, a cache lookup or a retry decision. The last line is the diagnosis.
  public var summary: String {
    var lines = entries.compactMap { line($0) }
    if lines.count > Self.mostLines {
      let (first, last) = (lines.prefix(Self.mostLines / 2), lines.suffix(Self.mostLines / 2))
      lines = first + ["… \(lines.count - first.count - last.count) more lines"] + last
    }
    let end = entries.last.map { " \($0.moment), after \($0.time.formattedSeconds)" } ?? ""
    let verdict = diagnosis.map { ["diagnosis: \($0)"] } ?? []
    return ([title + (title.isEmpty ? "" : ":") + end] + (lines + verdict).map { "  \($0)" }).joined(separator: "\n")
  }

  private static let mostLines = 12

  /// Returns a moment's summary line, or `nil` if other lines cover the moment.
  private func line(_ entry: Entry) -> String? {
    switch entry.moment {
    case .attemptEnded(let number, let record): "attempt \(number): \(record.summary)"
    case .redirected, .joined, .cacheAnswered, .cacheMissed, .cacheValidated, .hedgeSent, .retryRefused, .delayStarted,
      .networkWaitStarted:
      "\(entry.moment)"
    case .refreshEnded, .turnWaitEnded, .networkWaitEnded: "\(entry.time.formattedSeconds): \(entry.moment)"
    case .callStarted, .turnWaitStarted, .attemptStarted, .requested, .queued, .admitted, .leftQueue, .nameResolved,
      .connected,
      .secured, .requestSent, .progressed, .responded, .bodyReceived, .refreshStarted, .delayEnded, .decoded,
      .callEnded:
      nil
    }
  }
}

extension AttemptRecord {
  fileprivate var summary: String {
    var parts: [(String, Duration)] = [("slot", queued)]
    if let timings, timings.firstByte > .zero || timings.connect > .zero {
      let connected = max(timings.connect, timings.secureConnect)
      parts.append(("name", timings.nameLookup))
      parts.append(("connection", timings.connect - timings.nameLookup))
      parts.append(("TLS", timings.secureConnect > .zero ? timings.secureConnect - timings.connect : .zero))
      parts.append(("response", timings.firstByte - max(connected, timings.requestStart)))
      parts.append(("body", timings.lastByte - timings.firstByte))
    }
    let shown = parts.filter { $0.1 >= .milliseconds(1) }.map { "\($0.0) \($0.1.formattedSeconds)" }
    let details = shown.isEmpty ? "" : " (\(shown.joined(separator: ", ")))"
    let resent = wasResent ? ", resent on a new connection" : ""
    return "\(outcome) after \(duration.formattedSeconds)\(details)\(resent)"
  }
}

extension FlightRecord: Encodable {
  private enum CodingKeys: String, CodingKey {
    case title, moments, attempts, diagnosis
  }

  /// Encodes the title, moments, attempts and diagnosis. Times are in seconds.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(title, forKey: .title)
    try container.encode(entries.map(RecordedCall.Moment.init), forKey: .moments)
    try container.encode(attempts, forKey: .attempts)
    try container.encodeIfPresent(diagnosis, forKey: .diagnosis)
  }
}

extension RecordedCall.Moment {
  init(_ entry: FlightRecord.Entry) {
    self.init(time: entry.time, kind: entry.moment.kind, text: "\(entry.moment)")
  }
}
