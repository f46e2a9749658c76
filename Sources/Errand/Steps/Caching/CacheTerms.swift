import ErrandFoundation

/// The rules for using a stored response. Its header is parsed only once.
///
/// These are the rules of a private cache: `s-maxage`, `private` and `proxy-revalidate` only apply to shared caches.
struct CacheTerms: Sendable, Hashable {
  /// How long the response is fresh after it was generated (RFC 9111 §4.2.1).
  var lifetime = Duration.zero
  /// The age of the response when it was received (RFC 9111 §4.2.3: corrected_initial_age).
  var initialAge = Duration.zero
  let responseTime: Date
  /// Whether the response must be validated before each use (RFC 9111 §5.2.2.4).
  var mustValidate = false
  /// Whether the response must not be used when stale (RFC 9111 §5.2.2.2).
  var mustValidateWhenStale = false
  /// Whether the response does not change while it is fresh (RFC 8246 §2).
  var isImmutable = false
  /// How long a stale response can be used while it is being validated (RFC 5861 §3).
  var staleWhileValidating: Duration?
  /// How long a stale response can be used if the server fails (RFC 5861 §4).
  var staleIfError: Duration?

  /// The divisor for the heuristic lifetime: a tenth of the time since the last modification (RFC 9111 §4.2.2).
  static let heuristicShare = 10.0
  /// The maximum heuristic lifetime: content that has not changed for years can still change.
  static let longestGuess = Duration.seconds(7 * 86_400)

  init(_ status: HTTPStatus, _ headers: HTTPHeaders, requestTime: Date, responseTime: Date) {
    self.responseTime = responseTime
    let control = CacheControl(headers)
    let date = headers.firstDate(.date, now: responseTime)
    mustValidate = control.isUnqualified("no-cache")
    mustValidateWhenStale = control.contains("must-revalidate")
    isImmutable = control.contains("immutable")
    staleWhileValidating = control.seconds("stale-while-revalidate").value
    staleIfError = control.seconds("stale-if-error").value
    lifetime = Self.lifetime(status, headers, control, date ?? responseTime)
    initialAge = Self.initialAge(headers, date, requestTime, responseTime)
  }

  // RFC 9111 §4.2.1: max-age, then Expires, then a heuristic. A malformed value makes the response stale.
  private static func lifetime(
    _ status: HTTPStatus, _ headers: HTTPHeaders, _ control: CacheControl, _ date: Date
  ) -> Duration {
    switch control.seconds("max-age") {
    case .stated(let seconds): return .seconds(seconds)
    case .malformed: return .zero
    case .absent: break
    }
    if headers.contains(.expires) {
      // RFC 9111 §5.3: an invalid date, especially 0, is treated as a date in the past.
      guard let expires = headers.firstDate(.expires, now: date) else { return .zero }
      return max(.zero, .seconds(expires.timeIntervalSince(date)))
    }
    guard status.isHeuristicallyCacheable || control.contains("public"),
      let modified = headers.firstDate(.lastModified, now: date)
    else { return .zero }
    return min(longestGuess, max(.zero, .seconds(date.timeIntervalSince(modified) / heuristicShare)))
  }

  // RFC 9111 §4.2.3.
  private static func initialAge(
    _ headers: HTTPHeaders, _ date: Date?, _ requestTime: Date, _ responseTime: Date
  ) -> Duration {
    // HTTP dates have whole seconds, so compare in whole seconds.
    let second = responseTime.timeIntervalSince1970.rounded(.down)
    let apparent = date.map { Duration.seconds(second - $0.timeIntervalSince1970) } ?? .zero
    let delay = max(.zero, Duration.seconds(responseTime.timeIntervalSince(requestTime)))
    return max(.zero, apparent, .seconds(Age.seconds(in: headers) ?? 0) + delay)
  }

  // RFC 9111 §4.2.3: current_age. Setting the clock back does not make a response younger.
  func age(at now: Date) -> Duration { initialAge + max(.zero, .seconds(now.timeIntervalSince(responseTime))) }

  /// The tolerated difference, in seconds, between the clocks of two processes, or after a clock was set.
  static let slack = 300.0

  /// Whether the response time is in the future. If so, a clock was wrong, and the age is unknown.
  static func isFromFuture(_ responseTime: Date, now: Date) -> Bool {
    responseTime.timeIntervalSince(now) > slack
  }

  /// Returns how long the response stays fresh. Negative if the response is stale.
  func timeLeft(at now: Date) -> Duration {
    if Self.isFromFuture(responseTime, now: now) {
      return .seconds(now.timeIntervalSince(responseTime))
    }
    return lifetime - age(at: now)
  }
}

extension HTTPHeaders {
  /// Returns the date in the first value of a field, or `nil` if the field is missing or malformed.
  func firstDate(_ name: HTTPHeaderName, now: Date) -> Date? {
    guard contains(name) else { return nil }
    return values(for: name).first.flatMap { HTTPDate.parse($0, now: now) }
  }
}

extension HTTPStatus {
  /// Whether responses can be stored, and their lifetime estimated, without explicit cache directives (RFC 9110 §15.1).
  /// Status 206 qualifies too, but partial responses are never stored.
  var isHeuristicallyCacheable: Bool {
    switch code {
    case 200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501: true
    default: false
    }
  }
}
