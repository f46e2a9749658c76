import ErrandFoundation

/// Makes the spans of one call of its events. Pure, but for the time of day at its start.
struct SpanAssembly {
  private struct Open {
    let start: Duration
    /// The method and what is said of the first request.
    var line: Line?
    var events: [RecordedSpan.Event] = []
  }

  private struct Line {
    let method: HTTPMethod
    let attributes: [RecordedSpan.Attribute]
  }

  private let span: CallSpan
  private let task: String
  /// The start of the call, in nanoseconds since 1970.
  private let epoch: UInt64
  private var attempts: [Int: Open] = [:]
  private var line: Line?
  private var events: [RecordedSpan.Event] = []
  private(set) var ended: [RecordedSpan] = []

  init(_ event: TaskEvent, _ span: CallSpan) {
    self.span = span
    task = event.task
    epoch = UInt64(max(0, Date().timeIntervalSince1970) * 1e9) &- Self.nanoseconds(event.time)
  }

  /// True for a moment that spans are made of.
  static func wants(_ moment: CallMoment) -> Bool {
    switch moment {
    case .admitted, .nameResolved, .requestSent, .progressed, .responded, .bodyReceived, .delayEnded, .decoded: false
    default: true
    }
  }

  /// Notes an event; true where it ends the call, and all spans are in ``ended``.
  mutating func note(_ event: TaskEvent) -> Bool {
    switch event.moment {
    case .attemptStarted(let number): attempts[number] = Open(start: event.time)
    case .requested(let line):
      guard self.line == nil || attempts[line.attempt]?.line == nil else { break }
      let told = Line(method: line.method, attributes: Self.attributes(of: line))
      self.line = self.line ?? told
      if attempts[line.attempt]?.line == nil { attempts[line.attempt]?.line = told }
    case .redirected, .connected, .secured:
      // Those of attempts beside one another are told of the last.
      let entry = entry(event)
      if let number = attempts.keys.max() { attempts[number]?.events.append(entry) }
    case .attemptEnded(let number, let record):
      if let attempt = attempts.removeValue(forKey: number) { end(attempt, record, event) }
    case .queued, .leftQueue, .delayStarted, .retryRefused, .hedgeSent, .joined, .refreshStarted, .refreshEnded,
      .cacheAnswered, .cacheMissed, .cacheValidated, .turnWaitStarted, .turnWaitEnded:
      events.append(entry(event))
    case .callEnded(let outcome):
      end(outcome, event)
      return true
    default: break
    }
    return false
  }

  private func entry(_ event: TaskEvent) -> RecordedSpan.Event {
    RecordedSpan.Event(name: event.moment.kind, time: time(event.time), text: "\(event.moment)")
  }

  private mutating func end(_ attempt: Open, _ record: AttemptRecord, _ event: TaskEvent) {
    var attributes = attempt.line?.attributes ?? []
    if let status = record.status { attributes.append(.init("http.response.status_code", .number(status.code))) }
    // What was sent after the first, for whatever reason.
    if record.number > 1 { attributes.append(.init("http.request.resend_count", .number(record.number - 1))) }
    if let version = record.version { attributes.append(.init("network.protocol.version", .text(version.number))) }
    if let timings = record.timings, !timings.remoteAddress.isEmpty {
      attributes.append(.init("network.peer.address", .text(timings.remoteAddress)))
      if timings.remotePort > 0 { attributes.append(.init("network.peer.port", .number(timings.remotePort))) }
    }
    let status = record.status.flatMap { $0.code >= 400 ? $0 : nil }
    let type = record.errorType ?? status.map { "\($0.code)" }
    if let type { attributes.append(.init("error.type", .text(type))) }
    add(
      span.attempt(record.number), parent: span.context.spanID, Self.name(of: attempt.line?.method), .client,
      from: attempt.start, to: event.time, attributes, attempt.events,
      failure: record.failure ?? status.map { "\($0)" })
  }

  private mutating func end(_ outcome: CallOutcome, _ event: TaskEvent) {
    var attributes: [RecordedSpan.Attribute] = [.init("errand.task", .text(task))]
    if let line { attributes += line.attributes }
    var failure: String?
    switch outcome {
    case .succeeded(let status):
      if let status { attributes.append(.init("http.response.status_code", .number(status.code))) }
    case .failed(let words): failure = words
    case .cancelled: failure = "cancelled"
    }
    if let type = event.errorType { attributes.append(.init("error.type", .text(type))) }
    add(
      span.context.spanID, parent: span.parent, task, .internal, from: .zero, to: event.time, attributes, events,
      failure: failure)
  }

  private mutating func add(
    _ id: SpanID, parent: SpanID?, _ name: String, _ kind: RecordedSpan.Kind, from start: Duration, to end: Duration,
    _ attributes: [RecordedSpan.Attribute], _ events: [RecordedSpan.Event], failure: String?
  ) {
    ended.append(
      RecordedSpan(
        traceID: span.context.traceID, spanID: id, parent: parent, state: span.context.state, name: name, kind: kind,
        start: time(start), end: time(end), attributes: attributes, events: events, failure: failure))
  }

  private func time(_ time: Duration) -> UInt64 { epoch &+ Self.nanoseconds(time) }

  private static func nanoseconds(_ time: Duration) -> UInt64 {
    let (seconds, attoseconds) = time.components
    return UInt64(clamping: seconds) &* 1_000_000_000 &+ UInt64(clamping: attoseconds / 1_000_000_000)
  }

  // MARK: The conventions' words

  private static let knownMethods: Set<String> = [
    "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY",
  ]

  private static func name(of method: HTTPMethod?) -> String {
    guard let method, knownMethods.contains(method.rawValue) else { return "HTTP" }
    return method.rawValue
  }

  private static func attributes(of line: RequestLine) -> [RecordedSpan.Attribute] {
    let method = line.method.rawValue
    var attributes: [RecordedSpan.Attribute] = []
    if knownMethods.contains(method) {
      attributes.append(.init("http.request.method", .text(method)))
    } else {
      attributes.append(.init("http.request.method", .text("_OTHER")))
      attributes.append(.init("http.request.method_original", .text(method)))
    }
    if let origin = line.origin {
      attributes.append(.init("server.address", .text(origin.host)))
      attributes.append(.init("server.port", .number(origin.port)))
    }
    attributes.append(.init("url.full", .text(line.url)))
    return attributes
  }
}

extension HTTPVersion {
  /// The number alone.
  fileprivate var number: String { String(rawValue.dropFirst(5)) }
}
