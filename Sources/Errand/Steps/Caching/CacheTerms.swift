import ErrandFoundation

/// The terms on which a stored response may be used, as its header states them; read once for every response.
///
/// They are those of a private cache: `s-maxage`, `private` and `proxy-revalidate` are for shared ones.
struct CacheTerms: Sendable, Hashable {
  /// The time for which it is fresh, counted from its generation (RFC 9111 §4.2.1).
  var lifetime = Duration.zero
  /// Its age when it came (RFC 9111 §4.2.3: corrected_initial_age).
  var initialAge = Duration.zero
  /// The moment at which it came.
  let responseTime: Date
  /// True where it may not be used without validation (RFC 9111 §5.2.2.4).
  var mustValidate = false
  /// True where it may not be used once it is stale (RFC 9111 §5.2.2.2).
  var mustValidateWhenStale = false
  /// True where it does not change while it is fresh (RFC 8246 §2).
  var isImmutable = false
  /// The time for which it may be used stale while it is validated (RFC 5861 §3).
  var staleWhileValidating: Duration?
  /// The time for which it may be used stale where its server fails (RFC 5861 §4).
  var staleIfError: Duration?

  /// The share of the time since a response was last modified for which it is taken to be fresh (RFC 9111 §4.2.2).
  static let heuristicShare = 10.0
  /// The longest such time: what has not changed for years may change tomorrow.
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

  // RFC 9111 §4.2.1: max-age, then Expires, then a guess. What is malformed is stale.
  private static func lifetime(
    _ status: HTTPStatus, _ headers: HTTPHeaders, _ control: CacheControl, _ date: Date
  ) -> Duration {
    switch control.seconds("max-age") {
    case .stated(let seconds): return .seconds(seconds)
    case .malformed: return .zero
    case .absent: break
    }
    if headers.contains(.expires) {
      // RFC 9111 §5.3: an invalid date, the value 0 above all, is one in the past.
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
    // Dates are in whole seconds, and so is what is compared with them.
    let second = responseTime.timeIntervalSince1970.rounded(.down)
    let apparent = date.map { Duration.seconds(second - $0.timeIntervalSince1970) } ?? .zero
    let delay = max(.zero, Duration.seconds(responseTime.timeIntervalSince(requestTime)))
    return max(.zero, apparent, .seconds(Age.seconds(in: headers) ?? 0) + delay)
  }

  // RFC 9111 §4.2.3: current_age. A clock that was set back makes nothing younger.
  func age(at now: Date) -> Duration { initialAge + max(.zero, .seconds(now.timeIntervalSince(responseTime))) }

  /// The most by which the clocks of two processes, or of one before and after it was set, may differ.
  static let slack = 300.0

  /// True for a response that came later than the present: the clock by which it was stored was wrong, and nobody knows its age.
  static func isFromFuture(_ responseTime: Date, now: Date) -> Bool {
    responseTime.timeIntervalSince(now) > slack
  }

  /// The time for which it is still fresh; below zero, that for which it has been stale.
  func timeLeft(at now: Date) -> Duration {
    if Self.isFromFuture(responseTime, now: now) {
      return .seconds(now.timeIntervalSince(responseTime))
    }
    return lifetime - age(at: now)
  }
}

extension HTTPHeaders {
  /// The date in the first line of a field; nil where it is missing or malformed.
  func firstDate(_ name: HTTPHeaderName, now: Date) -> Date? {
    guard contains(name) else { return nil }
    return values(for: name).first.flatMap { HTTPDate.parse($0, now: now) }
  }
}

extension HTTPStatus {
  /// True for a status whose responses may be stored, and taken to be fresh by a guess, without a word from the server
  /// (RFC 9110 §15.1). 206 is one as well, but parts are never stored.
  var isHeuristicallyCacheable: Bool {
    switch code {
    case 200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501: true
    default: false
    }
  }
}
