public import Foundation

/// The one error of the library: what went wrong, where, in which phase, and what came before.
///
/// `description` is one line that a person can act on, with secrets hidden. A cancelled call does not throw this but
/// `CancellationError`, always.
public struct TaskError: Error, Sendable {
  /// What went wrong; compare it with the constants of ``Code``.
  public let code: Code
  /// What went wrong in words: which field, which value, and what would be right.
  public let reason: String
  /// Where in the life of the call it happened.
  public let phase: Phase
  /// The request's method, if there was a request.
  public package(set) var method: HTTPMethod?
  /// The request's URL, secrets hidden, if there was a request.
  public package(set) var url: String?
  /// The status, if a response came.
  public package(set) var status: HTTPStatus?
  /// The header of the response; empty without one.
  public package(set) var headers: HTTPHeaders = [:]
  /// The body of the response, up to the configured limit; empty without one.
  public package(set) var body = Data()
  /// Which timer fired, if one did.
  public package(set) var timer: Timeouts.Timer?
  /// What the timer allowed, if one fired.
  public package(set) var limit: Duration?
  /// Whether the server surely saw nothing of the request, so that any method may be repeated.
  public package(set) var isSurelyNotSent = false
  /// The error that caused this one, where there is one.
  public package(set) var underlying: (any Error)?
  /// What happened to the call, moment by moment.
  public package(set) var record = FlightRecord()
  /// From the start of the call to its failure.
  public package(set) var elapsed: Duration = .zero

  /// An error of the given kind; for transports and steps of one's own.
  ///
  /// - Parameters:
  ///   - code: What went wrong.
  ///   - reason: The same in words.
  ///   - phase: Where it happened.
  ///   - underlying: The error that caused it.
  ///   - isSurelyNotSent: Whether the server surely saw nothing of the request.
  public init(
    _ code: Code, _ reason: String, phase: Phase, underlying: (any Error)? = nil, isSurelyNotSent: Bool = false
  ) {
    self.code = code
    self.reason = reason
    self.phase = phase
    self.underlying = underlying
    self.isSurelyNotSent = isSurelyNotSent
  }

  /// A timer that fired.
  ///
  /// - Parameters:
  ///   - timer: Which one.
  ///   - limit: What it allowed.
  ///   - phase: What was under way.
  ///   - isSurelyNotSent: Whether the server surely saw nothing of the request.
  public static func timeout(
    _ timer: Timeouts.Timer, after limit: Duration, phase: Phase, isSurelyNotSent: Bool = false
  ) -> TaskError {
    let reason = "the \(timer.rawValue) timer fired after \(limit.formattedSeconds), \(phase.rawValue)"
    var error = TaskError(.timedOut, reason, phase: phase, isSurelyNotSent: isSurelyNotSent)
    error.timer = timer
    error.limit = limit
    return error
  }

  /// The attempts that were made, the last included.
  public var attempts: [AttemptRecord] { record.attempts }

  /// Whether a timer fired.
  public var isTimeout: Bool { code == .timedOut }

  /// Whether the remote could not be reached at all.
  public var isOffline: Bool { code == .cannotResolveHost || code == .cannotConnect || code == .offline }

  /// Whether the same request may well succeed a little later: transport errors, time-outs, and the statuses 408,
  /// 429, 502, 503 and 504. Whether it may be *sent* again is another question, which the method answers.
  public var isRetryable: Bool {
    switch code {
    case .timedOut: timer != .call
    case .cannotResolveHost, .cannotConnect, .offline, .connectionLost, .truncatedBody: true
    case .badStatus: status.map { RetryableStatuses.standard.contains($0) } ?? false
    default: false
    }
  }

  /// The body as text, in UTF-8; nil where it is none.
  public var bodyText: String? { String(data: body, encoding: .utf8) }

  /// The problem that the server described (RFC 9457); nil where it described none.
  public var problem: ProblemDetails? {
    guard headers[.contentType].map({ MediaType($0).essence }) == MediaType.problem.rawValue else { return nil }
    return try? JSONDecoder().decode(ProblemDetails.self, from: body)  // a malformed problem is none
  }
}

extension TaskError: CustomStringConvertible, LocalizedError {
  /// One line: method, URL, reason, and how many attempts it took.
  public var description: String {
    var parts: [String] = []
    if let method, let url { parts.append("\(method) \(url)") }
    parts.append(reason)
    let count = attempts.count
    if count > 1 { parts.append("after \(count) attempts in \(elapsed.formattedSeconds)") }
    return parts.joined(separator: ": ").replacingOccurrences(of: "\n", with: " ")
  }

  /// The same line.
  public var errorDescription: String? { description }
}
