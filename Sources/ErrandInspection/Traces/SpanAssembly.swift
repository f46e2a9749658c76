import Errand
import ErrandFoundation

/// Writes a finished call's spans to a ``SpanWriter``: its attempts in the order in which they ended, then the call.
struct SpanAssembly {
  private let call: CallSpan
  private let task: String
  private let entries: [FlightRecord.Entry]
  private let notes: CallSpan.Notes
  private let outcome: CallOutcome
  private let errorType: String?
  private let end: Duration
  /// The call's start time, in nanoseconds since 1970.
  private let epoch: UInt64

  /// Returns `nil` if the event does not end a call or the call is not sampled.
  init?(_ event: TaskEvent) {
    guard case .callEnded(let outcome) = event.moment, let call = event.span, call.context.isSampled,
      let record = event.record
    else { return nil }
    self.call = call
    self.outcome = outcome
    (task, entries, notes) = (event.task, record.entries, call.notes)
    (errorType, end) = (event.errorType, event.time)
    epoch = UInt64(max(0, Date().timeIntervalSince1970) * 1e9) &- Self.nanoseconds(event.time)
  }

  func notify(_ writer: inout some SpanWriter & ~Copyable) {
    let first = notes.lines.first.map { Line($0) }
    for index in entries.indices {
      guard case .attemptEnded(let number, let record) = entries[index].moment else { continue }
      let line = notes.lines.first?.attempt == number ? first : line(of: number)
      notify(number, record, endedAt: index, line, &writer)
    }
    tellCall(first, &writer)
  }

  private func line(of number: Int) -> Line? { notes.lines.first { $0.attempt == number }.map { Line($0) } }

  // MARK: Attempts

  private func notify(
    _ number: Int, _ record: AttemptRecord, endedAt end: Int, _ line: Line?, _ writer: inout some SpanWriter & ~Copyable
  ) {
    let start = entries[..<end].lastIndex { $0.moment.starts(number) } ?? end
    writer.begin(
      SpanHead(
        call: call, spanID: call.attempt(number), parent: call.context.spanID, name: line?.name ?? "HTTP",
        kind: .client, start: time(entries[start].time), end: time(entries[end].time)))
    line?.notify(&writer)
    let failure = notify(record, &writer)
    for moment in moments(of: number, from: start, to: end) { notify(moment, &writer) }
    writer.end(failure: failure)
  }

  /// Writes an attempt's result and returns a description of its failure.
  private func notify(_ record: AttemptRecord, _ writer: inout some SpanWriter & ~Copyable) -> String? {
    if let status = record.status { writer.attribute("http.response.status_code", status.code) }
    // Count every attempt after the first, regardless of the reason.
    if record.number > 1 { writer.attribute("http.request.resend_count", record.number - 1) }
    if let version = record.version { writer.attribute("network.protocol.version", version.number) }
    if let parts = record.timings?.parts, !parts.remoteAddress.isEmpty {
      writer.attribute("network.peer.address", parts.remoteAddress)
      if parts.remotePort > 0 { writer.attribute("network.peer.port", parts.remotePort) }
    }
    let refused = record.status.flatMap { $0.code >= 400 ? $0 : nil }
    if let type = record.errorType ?? refused.map({ "\($0.code)" }) { writer.attribute("error.type", type) }
    return record.failure ?? refused?.description
  }

  /// Returns a span's events in order: connections and redirects. With concurrent attempts, redirects belong to the
  /// latest.
  private func moments(of number: Int, from start: Int, to end: Int) -> [FlightRecord.Entry] {
    var moments = notes.connections.filter { $0.attempt == number }
      .map { FlightRecord.Entry(time: $0.time, moment: $0.moment) }
    for index in start..<end {
      if case .redirected = entries[index].moment, newestAttempt(before: index) == number {
        moments.append(entries[index])
      }
    }
    if moments.count > 1 { moments.sort { $0.time < $1.time } }
    return moments
  }

  /// Returns the number of the latest attempt in progress before the entry at `index`.
  private func newestAttempt(before index: Int) -> Int? {
    var numbers: Set<Int> = []
    for entry in entries[..<index] {
      switch entry.moment {
      case .attemptStarted(let number): numbers.insert(number)
      case .attemptEnded(let number, _): numbers.remove(number)
      default: break
      }
    }
    return numbers.max()
  }

  // MARK: The call

  private func tellCall(_ line: Line?, _ writer: inout some SpanWriter & ~Copyable) {
    writer.begin(
      SpanHead(
        call: call, spanID: call.context.spanID, parent: call.parent, name: task, kind: .internal,
        start: time(.zero), end: time(end)))
    writer.attribute("errand.task", task)
    line?.notify(&writer)
    var failure: String?
    switch outcome {
    case .succeeded(let status): if let status { writer.attribute("http.response.status_code", status.code) }
    case .failed(let words): failure = words
    case .cancelled: failure = "cancelled"
    }
    if let errorType { writer.attribute("error.type", errorType) }
    for entry in entries where entry.moment.isOfCall { notify(entry, &writer) }
    writer.end(failure: failure)
  }

  private func notify(_ entry: FlightRecord.Entry, _ writer: inout some SpanWriter & ~Copyable) {
    writer.event(entry.moment.kind, at: time(entry.time), "\(entry.moment)")
  }

  // MARK: Times

  private func time(_ time: Duration) -> UInt64 { epoch &+ Self.nanoseconds(time) }

  private static func nanoseconds(_ time: Duration) -> UInt64 {
    let (seconds, attoseconds) = time.components
    return UInt64(clamping: seconds) &* 1_000_000_000 &+ UInt64(clamping: attoseconds / 1_000_000_000)
  }
}

/// A request's attributes, according to the OpenTelemetry conventions.
private struct Line {
  let method: String
  let isKnown: Bool
  let origin: Origin?
  let url: String

  init(_ line: RequestLine) {
    method = line.method.rawValue
    isKnown = Self.knownMethods.contains(method)
    (origin, url) = (line.origin, line.url)
  }

  private static let knownMethods: Set<String> = [
    "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY",
  ]

  var name: String { isKnown ? method : "HTTP" }

  func notify(_ writer: inout some SpanWriter & ~Copyable) {
    writer.attribute("http.request.method", isKnown ? method : "_OTHER")
    if !isKnown { writer.attribute("http.request.method_original", method) }
    if let origin {
      // IPv6 addresses have brackets only in URLs.
      let isAddress = origin.host.first == "["
      writer.attribute("server.address", isAddress ? String(origin.host.dropFirst().dropLast()) : origin.host)
      writer.attribute("server.port", origin.port)
    }
    writer.attribute("url.full", url)
  }
}

extension CallMoment {
  fileprivate func starts(_ attempt: Int) -> Bool {
    if case .attemptStarted(attempt) = self { true } else { false }
  }

  /// Whether the moment is an event of the call's span.
  fileprivate var isOfCall: Bool {
    switch self {
    case .queued, .leftQueue, .delayStarted, .retryRefused, .hedgeSent, .joined, .refreshStarted, .refreshEnded,
      .cacheAnswered, .cacheMissed, .cacheValidated, .turnWaitStarted, .turnWaitEnded,
      .networkWaitStarted, .networkWaitEnded:
      true
    default: false
    }
  }
}

extension HTTPVersion {
  fileprivate var number: String { String(rawValue.dropFirst(5)) }
}
