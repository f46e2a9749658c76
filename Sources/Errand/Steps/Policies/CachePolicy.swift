/// How calls use their server's cache.
///
///     await shop.update {
///       $0.cache = MemoryCache()
///       $0.cachePolicy = .cacheFirst
///     }
///     let now = try await GetWidget(id: 7).caching(.reload).send()
///
/// The policy applies to GET and HEAD requests without a body. Other methods always go to the server and remove the
/// stored responses that they invalidate. Without a cache, the policy has no effect.
public struct CachePolicy: Sendable, Hashable {
  enum Mode: Sendable, Hashable {
    case inherited, standard, validated, reload, cacheOnly, cacheFirst, none
    case networkFirst(Duration)
  }

  let mode: Mode
  private(set) var stores = true
  /// Whether a stale response has already been used, which allows an intermediate cache to respond (Fetch §4.6).
  private(set) var isAfterwards = false

  private init(_ mode: Mode) { self.mode = mode }

  /// The server's policy.
  public static let inherited = CachePolicy(.inherited)

  /// Standard HTTP caching (RFC 9111): uses a stored response while it is fresh and revalidates it once it is stale.
  public static let standard = CachePolicy(.standard)

  /// Revalidates the stored response even if it is fresh, unless it is also `immutable` (RFC 8246). Sends
  /// `Cache-Control: max-age=0` unless the task sets that field, so shared caches revalidate too.
  public static let validated = CachePolicy(.validated)

  /// Revalidates a response after it was used stale (RFC 5861 §3).
  static let validatedAfterwards: CachePolicy = {
    var policy = CachePolicy.validated
    policy.isAfterwards = true
    return policy
  }()

  /// Ignores the stored response and stores the new response. Sends `Cache-Control: no-cache` and `Pragma: no-cache`
  /// unless the task sets those fields.
  public static let reload = CachePolicy(.reload)

  /// Uses the stored response, regardless of its age, and never sends a request. Throws ``TaskError`` with code
  /// `.notCached` if nothing is stored.
  public static let cacheOnly = CachePolicy(.cacheOnly)

  /// Uses the stored response, regardless of its age. If nothing is stored, sends the request.
  public static let cacheFirst = CachePolicy(.cacheFirst)

  /// Sends the request. If it fails or takes longer than `limit`, uses the stored response, regardless of its age.
  public static func networkFirst(limit: Duration = .unlimited) -> CachePolicy { CachePolicy(.networkFirst(limit)) }

  /// Doesn't read from or write to the cache.
  public static let none: CachePolicy = {
    var policy = CachePolicy(.none)
    policy.stores = false
    return policy
  }()

  var isInherited: Bool {
    if case .inherited = mode { true } else { false }
  }

  var sendsNothing: Bool {
    if case .cacheOnly = mode { true } else { false }
  }

  /// The policies of the calls made by ``PayloadDownloadingTask/updates()``.
  var callsForUpdates: [CachePolicy] {
    func with(_ mode: Mode) -> CachePolicy {
      var policy = CachePolicy(mode)
      policy.stores = stores
      return policy
    }
    switch mode {
    case .none, .reload: return [self]
    case .cacheOnly: return [self]
    default: return [with(.cacheOnly), with(.validated)]
    }
  }

  /// Returns the policy with storing turned off.
  public var withoutStoring: CachePolicy {
    var policy = self
    policy.stores = false
    return policy
  }
}
