public import ErrandFoundation

/// The error that a failed call throws. It contains the kind of failure, its phase, and the history of the call.
///
/// `description` explains the failure on one line, with secrets redacted. A cancelled call always throws
/// `CancellationError` instead.
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
    var wasNotSent: Bool
    var underlying: (any Error)?
    var record = FlightRecord()
    var elapsed: Duration = .zero
    var retryRefusal: String?
    var mostAttempts: Int?
    var attemptCount: Int?
    var timings: TransferTimings?
    var payload: (any Sendable)?
    var call: (number: Int, request: String)?
    var isFromAnotherCall = false
    var isLocal = false
    var isTokenFailure = false
    var awaitedSource = false
    var proxyRenewal: CredentialRenewal?
  }

  private final class Box: Sendable {
    let details: Details

    init(_ details: Details) { self.details = details }
  }

  // Boxed so that throwing functions don't reserve stack space for all details.
  private var box: Box

  private var details: Details {
    get { box.details }
    set { box = Box(newValue) }
  }

  /// Creates an error for custom transports and steps.
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - reason: A description of the failure.
  ///   - phase: The phase of the call.
  ///   - underlying: The error that caused this one. Defaults to `nil`.
  ///   - wasNotSent: Whether the request is known not to have reached the server. Defaults to `false`.
  @inline(never)
  public init(
    _ code: Code, _ reason: String, phase: Phase, underlying: (any Error)? = nil, wasNotSent: Bool = false
  ) {
    box = Box(
      Details(code: code, reason: reason, phase: phase, wasNotSent: wasNotSent, underlying: underlying))
  }

  /// Creates an error about a response, with its status and header fields. For steps and hooks.
  ///
  ///     func verify(_ response: HTTPResponse) throws {
  ///       guard response.headers["X-Stock"] != "0" else {
  ///         throw TaskError(.badResponse, "the item is sold out", response: response)
  ///       }
  ///     }
  ///
  /// - Parameters:
  ///   - code: The kind of failure.
  ///   - reason: A description of the failure.
  ///   - response: The response. Secrets in its header fields are redacted.
  ///   - phase: The phase of the call. Defaults to `.finishing`.
  public init(_ code: Code, _ reason: String, response: HTTPResponse, phase: Phase = .finishing) {
    self.init(code, reason, phase: phase)
    details.status = response.status
    details.headers = Redaction.standard(response.headers)
  }

  /// Creates an error for an exceeded time limit.
  ///
  /// - Parameters:
  ///   - timer: The part of the call that the limit applies to.
  ///   - limit: The time limit.
  ///   - phase: The phase of the call.
  ///   - wasNotSent: Whether the request is known not to have reached the server. Defaults to `false`.
  public static func timeout(
    _ timer: Timeouts.Timer, after limit: Duration, phase: Phase, wasNotSent: Bool = false
  ) -> TaskError {
    let reason = "\(timer.words) of \(limit.formattedSeconds) was exceeded \(phase.rawValue)"
    var error = TaskError(.timedOut, reason, phase: phase, wasNotSent: wasNotSent)
    error.details.timer = timer
    error.details.limit = limit
    return error
  }

  /// Returns the reason with secrets redacted. The reason of a custom code can contain secrets outside URLs.
  func shownReason(_ redaction: Redaction) -> String {
    code.isOwn ? redaction.hidingInURLs(of: reason) : redaction(text: reason)
  }

  /// Returns a copy that reports `limit` as the exceeded limit, instead of the time that was left of it.
  package func relimited(to limit: Duration) -> TaskError {
    var error = self
    if let left = error.limit, let place = reason.firstRange(of: left.formattedSeconds) {
      error.reason.replaceSubrange(place, with: limit.formattedSeconds)
    }
    error.details.limit = limit
    return error
  }

  /// The kind of failure. Compare it with the constants of ``Code``.
  public var code: Code { box.details.code }

  /// A description of the failure: the affected field, its value, and what would be valid.
  public package(set) var reason: String {
    get { box.details.reason }
    set { details.reason = newValue }
  }

  /// The phase in which the call failed.
  public var phase: Phase { box.details.phase }

  /// The name of the task's type, if the call failed before its request was created.
  package var task: String? {
    get { box.details.task }
    set { details.task = newValue }
  }

  /// The request's method, if the request was created.
  public package(set) var method: HTTPMethod? {
    get { box.details.method }
    set { details.method = newValue }
  }

  /// The request's URL with secrets redacted, if the request was created.
  public package(set) var url: String? {
    get { box.details.url }
    set { details.url = newValue }
  }

  /// The response's status. `nil` if there was no response.
  public package(set) var status: HTTPStatus? {
    get { box.details.status }
    set { details.status = newValue }
  }

  /// The response's header fields, with secrets redacted. Empty if there was no response.
  public package(set) var headers: HTTPHeaders {
    get { box.details.headers }
    set { details.headers = newValue }
  }

  /// The response's body, up to the configured limit. Empty if there was no response.
  public package(set) var body: Data {
    get { box.details.body }
    set { details.body = newValue }
  }

  /// The time limit that was exceeded, if any.
  public var timer: Timeouts.Timer? { box.details.timer }

  /// The duration of the time limit that was exceeded, if any.
  public var limit: Duration? { box.details.limit }

  /// Whether the request is known not to have reached the server. If `true`, it can be retried with any method.
  public package(set) var wasNotSent: Bool {
    get { box.details.wasNotSent }
    set { details.wasNotSent = newValue }
  }

  /// The error that caused this one, if any.
  public var underlying: (any Error)? { box.details.underlying }

  /// The history of the call.
  public package(set) var record: FlightRecord {
    get { box.details.record }
    set { details.record = newValue }
  }

  /// The time from the start of the call to its failure.
  public package(set) var elapsed: Duration {
    get { box.details.elapsed }
    set { details.elapsed = newValue }
  }

  /// The reason why the call was not retried although the retry policy allowed it: the retry budget was exhausted, the
  /// request can't be resent, the deadline was too close, or the delay in `Retry-After` was too long. `nil` if the
  /// policy itself didn't allow a retry.
  public package(set) var retryRefusal: String? {
    get { box.details.retryRefusal }
    set { details.retryRefusal = newValue }
  }

  /// The maximum number of attempts, if the retry policy has one.
  package var mostAttempts: Int? {
    get { box.details.mostAttempts }
    set { details.mostAttempts = newValue }
  }

  /// The number of attempts of a transfer, which makes a separate call for each. `nil` if the record contains the
  /// attempts.
  package var attemptCount: Int? {
    get { box.details.attemptCount }
    set { details.attemptCount = newValue }
  }

  package var timings: TransferTimings? {
    get { box.details.timings }
    set { details.timings = newValue }
  }

  /// The number and the request text of the call that failed, if any. The text is empty if the task hides it.
  var call: (number: Int, request: String)? {
    get { box.details.call }
    set { details.call = newValue }
  }

  /// Whether the call failed after it accepted the response's status, for example in a hook.
  var isLocal: Bool {
    get { box.details.isLocal }
    set { if isLocal != newValue { details.isLocal = newValue } }
  }

  /// Whether the error comes from another call that a hook or step made. If `true`, the code, status and body are from
  /// that call.
  public internal(set) var isFromAnotherCall: Bool {
    get { box.details.isFromAnotherCall }
    set { details.isFromAnotherCall = newValue }
  }

  /// Whether the time limit expired while waiting for the request body's source.
  package var awaitedSource: Bool {
    get { box.details.awaitedSource }
    set { details.awaitedSource = newValue }
  }

  /// Whether no token could be obtained. The token source has already retried.
  var isTokenFailure: Bool {
    get { box.details.isTokenFailure }
    set { details.isTokenFailure = newValue }
  }

  /// Requests a new credential from the app after the proxy rejected the current one. Set only if the proxy has a
  /// `renewCredential`.
  var proxyRenewal: CredentialRenewal? {
    get { box.details.proxyRenewal }
    set { details.proxyRenewal = newValue }
  }

  /// The error response's payload, if the task or server declares its type and the body could be decoded.
  package var payload: (any Sendable)? {
    get { box.details.payload }
    set { details.payload = newValue }
  }

  /// Returns the error response's payload, or `nil` if the body can't be decoded.
  ///
  /// If `Payload` is the `ErrorPayload` of the task or server, returns the decoded value. Otherwise, decodes the body
  /// as JSON.
  public func payload<Payload: Decodable & Sendable>(as type: Payload.Type = Payload.self) -> Payload? {
    if let payload = payload as? Payload { return payload }
    return body.isEmpty ? nil : try? JSONDecoder().decode(type, from: body)
  }

  /// Returns a fixed name for an error, suitable for metrics: the name of the code, or of the type if the error is not
  /// a ``TaskError``.
  package static func typeName(of error: any Error) -> String {
    if error is CancellationError { return "cancelled" }
    return (error as? TaskError)?.code.name ?? "\(Swift.type(of: error))"
  }

  /// The duration and the number of attempts, with the timings of the last transfer.
  public var metrics: TaskMetrics { record.metrics }

  /// The attempts that were made, including the last.
  public var attempts: [AttemptRecord] { record.attempts }

  /// Whether a time limit was exceeded.
  public var isTimeout: Bool { code == .timedOut }

  /// Whether the remote could not be reached.
  public var isOffline: Bool {
    code == .cannotResolveHost || code == .cannotConnect || code == .offline || phase == .awaitingNetwork
  }

  /// Whether the same request may succeed if it is retried a little later.
  ///
  /// `true` for transport errors, for time limits except those for the queue and the call, and for the statuses 408,
  /// 429, 502, 503 and 504. Whether the request *can* be resent also depends on its method.
  public var isRetryable: Bool {
    switch code {
    case .timedOut: timer != .call && timer != .queue
    case .cannotResolveHost, .cannotConnect, .offline, .connectionLost, .truncatedBody: true
    case .badStatus: status.map { RetryableStatuses.standard.contains($0) } ?? false
    default: false
    }
  }

  /// Whether work that outlasts a call, such as an event stream or a transfer, can continue with a later call: the error
  /// is retryable, the circuit is open, or the token endpoint failed for such a reason.
  package var isTransient: Bool {
    let isTransient = isRetryable || code == .circuitOpen
    guard isTokenFailure, let status else { return isTransient }
    return isTransient || RetryableStatuses.standard.contains(status) || status.kind == .serverError
  }

  /// The server's problem description (RFC 9457), if any.
  public var problem: ProblemDetails? {
    guard headers.mediaType?.essence == MediaType.problem.rawValue else { return nil }
    return try? JSONDecoder().decode(ProblemDetails.self, from: body)
  }
}

extension TaskError: CustomStringConvertible, LocalizedError {
  /// A description of the failure on one line, with secrets redacted.
  ///
  /// It starts with the method and the first 200 characters of the URL, or with the task if the call failed before its
  /// request was created. The reason follows, with an explanation if it is only a status, then the number of attempts,
  /// and why the call was not retried.
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
      // A transfer counts only the attempts since its last progress, so the elapsed time doesn't apply to them.
      parts.append("after \(count) attempts\(attemptCount == nil ? " in \(elapsed.formattedSeconds)" : "")")
    }
    return parts.joined(separator: ": ").onOneLine
  }

  /// The reason, with an explanation if the reason is only a status. Does not contain the request.
  package var explanation: String { meaning.map { "\(reason): \($0)" } ?? reason }

  private var meaning: String? {
    let isBare = code == .badStatus && status.map { reason == $0.description } ?? false
    let isOfTLS =
      code == .secureConnectionFailed && phase != .preparing && !reason.hasPrefix(Self.certificatesReason)
    return isBare || isOfTLS ? diagnosis?.cause : nil
  }

  /// Same as ``description``.
  public var errorDescription: String? { description }
}

/// A machine-readable problem description from a server (RFC 9457 §3.1).
public struct ProblemDetails: Decodable, Sendable, Hashable {
  /// A URI that identifies the kind of problem.
  public let type: String?
  /// A short summary of the kind of problem.
  public let title: String?
  /// The status set by the server.
  public let status: Int?
  /// An explanation of this occurrence.
  public let detail: String?
  /// A URI that identifies this occurrence.
  public let instance: String?
}
