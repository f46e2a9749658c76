/// The use of a server's cache by its calls.
///
///     await shop.update {
///       $0.cache = MemoryCache()
///       $0.cachePolicy = .cacheFirst
///     }
///     let now = try await GetWidget(id: 7).caching(.reload).download()
///
/// It decides for GET and HEAD without a body; other methods go to the remote and remove what they make stale. Without a
/// cache there is nothing to decide.
public struct CachePolicy: Sendable, Hashable {
  enum Mode: Sendable, Hashable {
    case inherited, standard, validated, reload, cacheOnly, cacheFirst, none
    case networkFirst(Duration)
  }

  let mode: Mode
  /// False where no response is stored.
  private(set) var stores = true
  /// Whether a stale response was used already, so that a cache on the way may answer too (Fetch §4.6).
  private(set) var isAfterwards = false

  private init(_ mode: Mode) { self.mode = mode }

  /// Not a policy but its absence: what the server says counts.
  public static let inherited = CachePolicy(.inherited)

  /// As HTTP has it (RFC 9111): a stored response is used while it is fresh, and validated at its server once it is not.
  public static let standard = CachePolicy(.standard)

  /// Validates the stored response at the remote, whether it is fresh or not, unless it is fresh and `immutable` (RFC 8246).
  /// Sends `Cache-Control: max-age=0`, unless the task sets the field, so that no shared cache answers by itself.
  public static let validated = CachePolicy(.validated)

  /// Validates a response that was used stale (RFC 5861 §3).
  static let validatedAfterwards: CachePolicy = {
    var policy = CachePolicy.validated
    policy.isAfterwards = true
    return policy
  }()

  /// Sends the request as if nothing was stored, and stores the response. Sends `Cache-Control: no-cache` and
  /// `Pragma: no-cache`, unless the task sets the fields.
  public static let reload = CachePolicy(.reload)

  /// The stored response, whatever its age. Nothing is sent: where none is stored the call throws ``TaskError`` with code
  /// `.notCached`.
  public static let cacheOnly = CachePolicy(.cacheOnly)

  /// The stored response, whatever its age; the remote's where none is stored.
  public static let cacheFirst = CachePolicy(.cacheFirst)

  /// The remote's response. Where it fails, or takes longer than `limit`, the stored one, whatever its age.
  public static func networkFirst(limit: Duration = .unlimited) -> CachePolicy { CachePolicy(.networkFirst(limit)) }

  /// The cache is neither read nor written.
  public static let none: CachePolicy = {
    var policy = CachePolicy(.none)
    policy.stores = false
    return policy
  }()

  /// True where it is left to the server.
  var isInherited: Bool {
    if case .inherited = mode { true } else { false }
  }

  /// True where nothing is ever sent.
  var sendsNothing: Bool {
    if case .cacheOnly = mode { true } else { false }
  }

  /// The policies of the calls that ``PayloadDownloadingTask/updates()`` makes.
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

  /// The same policy, with nothing stored.
  public var withoutStoring: CachePolicy {
    var policy = self
    policy.stores = false
    return policy
  }
}
