public import ErrandFoundation

/// The one error of the library: the failure, its place and phase, and the events before it.
///
/// `description` is one line that a person can act on, with secrets hidden. A cancelled call does not throw this but
/// `CancellationError`, always.
public struct TaskError: Error, Sendable {
  private struct Details: Sendable {
    var code: Code
    var reason: String
    var phase: Phase
    var task: String?
    var method: HTTPMethod?
    var url: String?
    var status: HTTPStatus?
    var headers: HTTPHeaders = [:]
    var body = Data()
    var timer: Timeouts.Timer?
    var limit: Duration?
    var isSurelyNotSent: Bool
    var underlying: (any Error)?
    var record = FlightRecord()
    var elapsed: Duration = .zero
    var retryRefusal: String?
    var mostAttempts: Int?
    var attemptCount: Int?
    var timings: TransferTimings?
    var payload: (any Sendable)?
    var call: (number: Int, request: String)?
    var isOfAnotherCall = false
    var isTokenFailure = false
    var awaitedSource = false
    var proxyRenewal: CredentialRenewal?
  }

  private final class Box: Sendable {
    let details: Details

    init(_ details: Details) { self.details = details }
  }

  // Boxed, so that the many functions that may throw one have no room set aside for it.
  private var box: Box

  private var details: Details {
    get { box.details }
    set { box = Box(newValue) }
  }

  /// An error of the given kind; for transports and steps of one's own.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - reason: The same in words.
  ///   - phase: The stage of the call.
  ///   - underlying: The error that caused it.
  ///   - isSurelyNotSent: Whether the server surely saw nothing of the request.
  @inline(never)
  public init(
    _ code: Code, _ reason: String, phase: Phase, underlying: (any Error)? = nil, isSurelyNotSent: Bool = false
  ) {
    box = Box(
      Details(code: code, reason: reason, phase: phase, isSurelyNotSent: isSurelyNotSent, underlying: underlying))
  }

  /// A time limit that was exceeded.
  ///
  /// - Parameters:
  ///   - timer: The part of the call that it is for.
  ///   - limit: The time that it allowed.
  ///   - phase: The stage of the call.
  ///   - isSurelyNotSent: Whether the server surely saw nothing of the request.
  public static func timeout(
    _ timer: Timeouts.Timer, after limit: Duration, phase: Phase, isSurelyNotSent: Bool = false
  ) -> TaskError {
    let reason = "\(timer.words) of \(limit.formattedSeconds) was exceeded, \(phase.rawValue)"
    var error = TaskError(.timedOut, reason, phase: phase, isSurelyNotSent: isSurelyNotSent)
    error.details.timer = timer
    error.details.limit = limit
    return error
  }

  /// The reason, secrets hidden: a step's or a transport's own may have any in it.
  func shownReason(_ redaction: Redaction) -> String {
    code.isOwn ? redaction.hidingInURLs(of: reason) : redaction(text: reason)
  }

  /// The same error, where the limit that was exceeded was what was left of this one.
  func relimited(to limit: Duration) -> TaskError {
    var error = self
    if let left = error.limit, let place = reason.firstRange(of: left.formattedSeconds) {
      error.reason.replaceSubrange(place, with: limit.formattedSeconds)
    }
    error.details.limit = limit
    return error
  }

  /// The kind of failure; compare it with the constants of ``Code``.
  public var code: Code { box.details.code }

  /// The failure in words: which field, which value, and what would be right.
  public package(set) var reason: String {
    get { box.details.reason }
    set { details.reason = newValue }
  }

  /// The stage of the call in which it happened.
  public var phase: Phase { box.details.phase }

  /// The name of the task's type, where there was no request that could be named.
  package var task: String? {
    get { box.details.task }
    set { details.task = newValue }
  }

  /// The request's method, if there was a request.
  public package(set) var method: HTTPMethod? {
    get { box.details.method }
    set { details.method = newValue }
  }

  /// The request's URL, secrets hidden, if there was a request.
  public package(set) var url: String? {
    get { box.details.url }
    set { details.url = newValue }
  }

  /// The status, if a response came.
  public package(set) var status: HTTPStatus? {
    get { box.details.status }
    set { details.status = newValue }
  }

  /// The header of the response, secrets hidden; empty without one.
  public package(set) var headers: HTTPHeaders {
    get { box.details.headers }
    set { details.headers = newValue }
  }

  /// The body of the response, up to the configured limit; empty without one.
  public package(set) var body: Data {
    get { box.details.body }
    set { details.body = newValue }
  }

  /// The time limit that was exceeded, if one was.
  public var timer: Timeouts.Timer? { box.details.timer }

  /// The length of the time limit that was exceeded, if one was.
  public var limit: Duration? { box.details.limit }

  /// True when the server surely saw nothing of the request, so that any method may be repeated.
  public package(set) var isSurelyNotSent: Bool {
    get { box.details.isSurelyNotSent }
    set { details.isSurelyNotSent = newValue }
  }

  /// The error that caused this one, where there is one.
  public var underlying: (any Error)? { box.details.underlying }

  /// The history of the call, moment by moment.
  public package(set) var record: FlightRecord {
    get { box.details.record }
    set { details.record = newValue }
  }

  /// From the start of the call to its failure.
  public package(set) var elapsed: Duration {
    get { box.details.elapsed }
    set { details.elapsed = newValue }
  }

  /// The reason in words why there was no further attempt though the retry policy would have made one: the budget was
  /// used up, the request may not be sent twice, the deadline came first, or `Retry-After` asked for too much. Nil
  /// where only the policy ended it.
  public package(set) var retryRefusal: String? {
    get { box.details.retryRefusal }
    set { details.retryRefusal = newValue }
  }

  /// The most attempts that the retry policy allowed, where it says.
  package var mostAttempts: Int? {
    get { box.details.mostAttempts }
    set { details.mostAttempts = newValue }
  }

  /// The number of attempts where they are calls of their own, as a transfer's are; nil where they are in the record.
  package var attemptCount: Int? {
    get { box.details.attemptCount }
    set { details.attemptCount = newValue }
  }

  /// The timings of the transfer until it failed, where it was measured.
  package var timings: TransferTimings? {
    get { box.details.timings }
    set { details.timings = newValue }
  }

  /// The number of the call that has failed with it, and its request in words, empty where that is shown nowhere; nil before one has.
  var call: (number: Int, request: String)? {
    get { box.details.call }
    set { details.call = newValue }
  }

  /// True where it is the failure of another call, which a hook or a step has made for this one: code, status and body are that call's.
  public internal(set) var isOfAnotherCall: Bool {
    get { box.details.isOfAnotherCall }
    set { details.isOfAnotherCall = newValue }
  }

  /// True where its time limit passed while the source of the request's body gave nothing.
  package var awaitedSource: Bool {
    get { box.details.awaitedSource }
    set { details.awaitedSource = newValue }
  }

  /// Whether no token could be obtained. Its source has already retried.
  var isTokenFailure: Bool {
    get { box.details.isTokenFailure }
    set { details.isTokenFailure = newValue }
  }

  /// Asks the app for another credential than the one that the proxy has refused; `nil` if the app can't be asked.
  var proxyRenewal: CredentialRenewal? {
    get { box.details.proxyRenewal }
    set { details.proxyRenewal = newValue }
  }

  /// The payload of the refused response, where the task or its server states its type and the body was one.
  package var payload: (any Sendable)? {
    get { box.details.payload }
    set { details.payload = newValue }
  }

  /// The payload of the refused response; nil where there is none of this type.
  ///
  /// It is what the task's or the server's `ErrorPayload` made of the body; of any other type, what a `JSONDecoder` makes of it.
  public func payload<Payload: Decodable & Sendable>(as type: Payload.Type = Payload.self) -> Payload? {
    if let payload = payload as? Payload { return payload }
    return body.isEmpty ? nil : try? JSONDecoder().decode(type, from: body)  // what does not fit is none
  }

  /// The fixed name of an error, fit for metrics: that of a code, or of another error's type.
  package static func typeName(of error: any Error) -> String {
    if error is CancellationError { return "cancelled" }
    return (error as? TaskError)?.code.name ?? "\(Swift.type(of: error))"
  }

  /// The time and attempts until the failure, with the timings of the last transfer.
  public var metrics: TaskMetrics { record.metrics }

  /// The attempts that were made, the last included.
  public var attempts: [AttemptRecord] { record.attempts }

  /// True when a time limit was exceeded.
  public var isTimeout: Bool { code == .timedOut }

  /// True when the remote could not be reached at all.
  public var isOffline: Bool { code == .cannotResolveHost || code == .cannotConnect || code == .offline }

  /// True when the same request may well succeed a little later: transport errors, time limits but those of the queue
  /// and the call, and the statuses 408, 429, 502, 503 and 504. The method decides whether it may be *sent* again.
  public var isRetryable: Bool {
    switch code {
    case .timedOut: timer != .call && timer != .queue
    case .cannotResolveHost, .cannotConnect, .offline, .connectionLost, .truncatedBody: true
    case .badStatus: status.map { RetryableStatuses.standard.contains($0) } ?? false
    default: false
    }
  }

  /// The problem that the server described (RFC 9457); nil where it described none.
  public var problem: ProblemDetails? {
    guard headers.mediaType?.essence == MediaType.problem.rawValue else { return nil }
    return try? JSONDecoder().decode(ProblemDetails.self, from: body)  // a malformed problem is none
  }
}

extension TaskError: CustomStringConvertible, LocalizedError {
  /// One line: method and the first 200 characters of the URL, or the task where there was no request, then reason, the meaning of a status
  /// of which the server said no more, how many attempts it took, and why there was no further one.
  public var description: String {
    var parts: [String] = []
    if let method, let url {
      parts.append("\(method.description.shortened) \(url.shortened)")
    } else if let task {
      parts.append(task)
    }
    parts.append(explanation)
    let count = attemptCount ?? attempts.count
    if let retryRefusal {
      parts.append("gave up after \(count) \(mostAttempts.map { "of \($0) " } ?? "")attempts: \(retryRefusal)")
    } else if count > 1 {
      // Of a transfer those count that came after the last one that brought it on.
      parts.append("after \(count) attempts\(attemptCount == nil ? " in \(elapsed.formattedSeconds)" : "")")
    }
    return parts.joined(separator: ": ").onOneLine
  }

  /// The reason, and the meaning of a status of which the server said no more: without the request.
  package var explanation: String { meaning.map { "\(reason): \($0)" } ?? reason }

  /// The cause in words, where the reason is a status alone, or the words of a library for TLS: not everybody knows those by heart.
  private var meaning: String? {
    let isBare = code == .badStatus && status.map { reason == $0.description } ?? false
    let isOfTLS =
      code == .secureConnectionFailed && phase != .preparing && !reason.hasPrefix(Self.certificatesReason)
    return isBare || isOfTLS ? diagnosis?.cause : nil
  }

  /// The same line.
  public var errorDescription: String? { description }
}

/// A server's machine-readable description of a failure (RFC 9457 §3.1).
public struct ProblemDetails: Decodable, Sendable, Hashable {
  /// A URI that identifies the kind of problem.
  public let type: String?
  /// The kind of problem in a few words.
  public let title: String?
  /// The status that the server meant.
  public let status: Int?
  /// This occurrence in words.
  public let detail: String?
  /// A URI that identifies this occurrence.
  public let instance: String?
}
