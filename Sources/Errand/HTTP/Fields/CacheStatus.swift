/// The `Cache-Status` of a response (RFC 9211): what this library's cache did for it.
///
///     errand; hit; ttl=59
///     errand; fwd=stale; fwd-status=304; ttl=60; detail=validated
public struct CacheStatus: Sendable, Hashable, CustomStringConvertible {
  /// The reason for which a request went to the remote (RFC 9211 §2.2).
  public enum Forward: String, Sendable, Hashable {
    /// The policy, or a condition that only the remote can judge.
    case bypass
    /// The method.
    case method
    /// Nothing is stored for the URL.
    case uriMiss = "uri-miss"
    /// The stored responses were chosen by other header fields.
    case varyMiss = "vary-miss"
    /// The stored response is fresh, but the request does not take it.
    case request
    /// The stored response is stale.
    case stale
    /// The stored response lacks the requested part.
    case partial
  }

  /// The reason for which the request went to the remote; nil for a hit.
  public var forward: Forward?
  /// The status of the remote's response, where the caller got another.
  public var forwardStatus: HTTPStatus?
  /// The time for which the response is still fresh; below zero, that for which it has been stale.
  public var timeLeft: Duration?
  /// True where the response is stored.
  public var isStored = false
  /// True where the request was joined with an identical one in flight.
  public var isCollapsed = false
  /// More, as a word.
  public var detail: String?

  /// True where the stored response was used without asking the remote.
  public var isHit: Bool { forward == nil }

  // RFC 9211 §2: the name of the cache, then its parameters.
  /// The member that is added to the field.
  public var description: String {
    var text = "errand"
    text.reserveCapacity(48)  // every hit comes here
    if let forward { text += "; fwd=\(forward.rawValue)" } else { text += "; hit" }
    if let forwardStatus { text += "; fwd-status=\(forwardStatus.code)" }
    if let timeLeft {
      text += "; ttl="
      text += String(timeLeft.wholeSeconds)
    }
    if isStored { text += "; stored" }
    if isCollapsed { text += "; collapsed" }
    if let detail { text += "; detail=\(detail)" }
    return text
  }
}

extension Duration {
  /// The seconds without their fraction, towards the past.
  var wholeSeconds: Int64 {
    let (seconds, attoseconds) = components
    return attoseconds < 0 ? seconds - 1 : seconds
  }
}
