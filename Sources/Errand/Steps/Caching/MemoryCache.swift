import ErrandFoundation

/// An in-memory cache that removes the least recently used responses when it exceeds a size limit.
///
///     await shop.update { $0.cache = MemoryCache() }
public final class MemoryCache: CacheStore {
  /// The maximum size in bytes, including bodies, header fields and URLs.
  public let byteLimit: Int
  private let storage: Lock<LRUStore>
  /// The number of bytes in incomplete bodies.
  private let coming = Lock(0)

  private var mostBytesOfOne: Int { byteLimit / 4 }

  /// Creates an empty cache.
  ///
  /// - Parameter byteLimit: The maximum size in bytes. Defaults to 32 MiB. A response larger than a quarter of the
  ///   limit is not stored.
  public init(byteLimit: Int = 32 << 20) {
    self.byteLimit = max(0, byteLimit)
    storage = Lock(LRUStore(limit: max(0, byteLimit)))
  }

  /// The current size in bytes.
  public var byteCount: Int { storage.withLock { $0.bytes } }

  /// The number of stored responses.
  public var count: Int { storage.withLock { $0.count } }

  /// Returns the responses stored under a key.
  public func entries(for key: CacheKey) async -> [CacheEntry] { storage.withLock { $0.entries(for: key) } }

  /// Starts storing a response.
  ///
  /// Incomplete bodies can use up to ``byteLimit`` bytes in addition to stored responses. Beyond that, new responses
  /// are not stored.
  public func store(_ response: StoredResponse, for key: CacheKey) async throws -> any CacheWriter {
    guard (response.statedLength ?? 0) <= mostBytesOfOne else { throw TooLarge() }
    return Writer(self, response, key)
  }

  /// Replaces the header of a stored response.
  public func update(_ entry: CacheEntry, to response: StoredResponse, for key: CacheKey) async throws {
    let dropped = storage.withLock { $0.update(entry.id, to: response, for: key) }
    withExtendedLifetime(dropped) {}
  }

  /// Removes a stored response.
  public func remove(_ entry: CacheEntry, for key: CacheKey) async {
    storage.withLock { $0.remove(entry.id, for: key) }
  }

  /// Removes all responses for a URL.
  public func removeAll(for url: String) async { storage.withLock { $0.removeAll(for: url) } }

  /// Removes all responses.
  public func removeAll() async {
    let limit = byteLimit
    // Release the old entries outside of the lock.
    let old = storage.withLock { storage in
      defer { storage = LRUStore(limit: limit) }
      return storage
    }
    withExtendedLifetime(old) {}
  }

  private func insert(_ response: StoredResponse, _ body: Data, for key: CacheKey) {
    let dropped = storage.withLock { $0.insert(response, body, for: key) }
    withExtendedLifetime(dropped) {}
  }

  private func takeRoom(_ count: Int) -> Bool {
    coming.withLock { coming in
      guard coming + count <= byteLimit else { return false }
      coming += count
      return true
    }
  }

  struct TooLarge: Error {}

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
        // Most bodies have one chunk, which does not need to be copied.
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
