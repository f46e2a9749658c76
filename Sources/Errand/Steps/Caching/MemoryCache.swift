import ErrandFoundation

/// A cache in memory, which drops the least recently used responses where they grow beyond a number of bytes.
///
///     await shop.update { $0.cache = MemoryCache() }
public final class MemoryCache: CacheStore {
  /// The most bytes that it keeps: bodies, header fields and URLs.
  public let byteLimit: Int
  private let shelf: Lock<MemoryShelf>
  /// The bytes of the bodies that are on their way.
  private let coming = Lock(0)

  private var mostBytesOfOne: Int { byteLimit / 4 }

  /// A cache of nothing.
  ///
  /// - Parameter byteLimit: The most bytes that it keeps. A response that takes more than a quarter of that is not stored.
  public init(byteLimit: Int = 32 << 20) {
    self.byteLimit = max(0, byteLimit)
    shelf = Lock(MemoryShelf(limit: max(0, byteLimit)))
  }

  /// The bytes that it keeps.
  public var byteCount: Int { shelf.withLock { $0.bytes } }

  /// The number of responses that it keeps.
  public var count: Int { shelf.withLock { $0.count } }

  /// The responses that are stored under a key.
  public func entries(for key: CacheKey) async -> [CacheEntry] { shelf.withLock { $0.entries(for: key) } }

  /// Begins to store a response.
  ///
  /// Bodies on their way have as many bytes as the cache at most; where all are taken, nothing more is stored.
  public func store(_ response: StoredResponse, for key: CacheKey) async throws -> any CacheWriter {
    guard (response.statedLength ?? 0) <= mostBytesOfOne else { throw TooLarge() }
    return Writer(self, response, key)
  }

  /// Replaces the header of a stored response.
  public func update(_ entry: CacheEntry, to response: StoredResponse, for key: CacheKey) async throws {
    let dropped = shelf.withLock { $0.update(entry.id, to: response, for: key) }
    withExtendedLifetime(dropped) {}
  }

  /// Removes a stored response.
  public func remove(_ entry: CacheEntry, for key: CacheKey) async { shelf.withLock { $0.remove(entry.id, for: key) } }

  /// Removes all that is stored for a URL.
  public func removeAll(for url: String) async { shelf.withLock { $0.removeAll(for: url) } }

  /// Removes everything.
  public func removeAll() async {
    let limit = byteLimit
    // To be released outside of the lock.
    let old = shelf.withLock { shelf in
      defer { shelf = MemoryShelf(limit: limit) }
      return shelf
    }
    withExtendedLifetime(old) {}
  }

  private func insert(_ response: StoredResponse, _ body: Data, for key: CacheKey) {
    let dropped = shelf.withLock { $0.insert(response, body, for: key) }
    withExtendedLifetime(dropped) {}
  }

  private func takeRoom(_ count: Int) -> Bool {
    coming.withLock { coming in
      guard coming + count <= byteLimit else { return false }
      coming += count
      return true
    }
  }

  /// A response is larger than a cache takes.
  struct TooLarge: Error {}

  /// Gathers the body of one response.
  private final class Writer: CacheWriter {
    private let cache: MemoryCache
    private let response: StoredResponse
    private let key: CacheKey
    private let body = Lock(Data())

    init(_ cache: MemoryCache, _ response: StoredResponse, _ key: CacheKey) {
      self.cache = cache
      self.response = response
      self.key = key
    }

    deinit { discard() }

    func write(_ data: Data) async throws {
      let limit = cache.mostBytesOfOne
      try body.withLock { body in
        guard body.count + data.count <= limit, cache.takeRoom(data.count) else { throw TooLarge() }
        // One piece is kept as it came: most bodies are one.
        if body.isEmpty { body = data } else { body.append(data) }
      }
    }

    func commit() async throws { cache.insert(response, taken(), for: key) }

    func discard() { _ = taken() }

    private func taken() -> Data {
      let data = body.withLock { body in
        defer { body = Data() }
        return body
      }
      if !data.isEmpty { cache.coming.withLock { $0 -= data.count } }
      return data
    }
  }
}
