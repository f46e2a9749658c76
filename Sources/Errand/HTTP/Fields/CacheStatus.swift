/// The `Cache-Status` of a response (RFC 9211), which describes how this library's cache handled the request.
///
///     errand; hit; ttl=59
///     errand; fwd=stale; fwd-status=304; ttl=60; detail=validated
public struct CacheStatus: Sendable, Hashable, CustomStringConvertible {
  /// The reason why a request was forwarded to the remote (RFC 9211 §2.2).
  public enum Forward: String, Sendable, Hashable {
    /// The cache policy bypasses the cache, or the request has a precondition that only the remote can evaluate.
    case bypass
    /// The cache can't serve requests with this method.
    case method
    /// Nothing is stored for the URL.
    case uriMiss = "uri-miss"
    /// Responses are stored for the URL, but for other values of the `Vary` fields.
    case varyMiss = "vary-miss"
    /// The stored response is fresh, but the request doesn't accept it.
    case request
    /// The stored response is stale.
    case stale
    /// The stored response doesn't contain the requested range.
    case partial
  }

  /// The reason why the request was forwarded to the remote, or `nil` for a hit.
  public var forward: Forward?
  /// The status of the remote's response, if it differs from the status that the caller received.
  public var forwardStatus: HTTPStatus?
  /// The remaining freshness lifetime. Negative if the response is stale.
  public var timeLeft: Duration?
  /// Whether the response was stored.
  public var isStored = false
  /// Whether the request was merged with an identical one in flight.
  public var isCollapsed = false
  /// Additional information, as a token.
  public var detail: String?

  /// Whether the stored response was used without contacting the remote.
  public var isHit: Bool { forward == nil }

  /// The list member added to the `Cache-Status` field: the name of the cache and its parameters (RFC 9211 §2).
  public var description: String {
    var text = "errand"
    text.reserveCapacity(48)  // this runs for every cache hit
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
  /// The number of whole seconds, rounded down.
  var wholeSeconds: Int64 {
    let (seconds, attoseconds) = components
    return attoseconds < 0 ? seconds - 1 : seconds
  }
}
