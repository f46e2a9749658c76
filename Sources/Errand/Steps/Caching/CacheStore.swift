public import ErrandFoundation

/// A place for responses: ``MemoryCache``, ``DiskCache``, or one of your own.
///
/// A store keeps and finds; what may be stored, and used, is decided elsewhere. It is called from many calls at once. What it
/// throws fails no call: the response is then not stored. A store may forget whatever it likes at any time.
public protocol CacheStore: Sendable {
  /// The responses that are stored under a key, in any order.
  func entries(for key: CacheKey) async -> [CacheEntry]

  /// Begins to store a response, whose body is written piece by piece. Nothing of it is found before it is committed; it then
  /// takes the place of those that it supersedes (``StoredResponse/supersedes(_:)``).
  /// Throws what keeps it from being stored.
  func store(_ response: StoredResponse, for key: CacheKey) async throws -> any CacheWriter

  /// Replaces the header of a stored response, which was validated; its body stays.
  /// Throws what keeps it from being stored.
  func update(_ entry: CacheEntry, to response: StoredResponse, for key: CacheKey) async throws

  /// Removes a stored response.
  func remove(_ entry: CacheEntry, for key: CacheKey) async

  /// Removes all that is stored for a URL, whatever the credential.
  func removeAll(for url: String) async

  /// Removes everything.
  func removeAll() async
}

/// Takes the body of a response that is being stored; ends with ``commit()`` or ``discard()``.
public protocol CacheWriter: Sendable {
  /// Adds a piece of the body.
  /// Throws what keeps it from being stored; ``discard()`` follows.
  func write(_ data: Data) async throws

  /// The body is complete: the response can be found from now on.
  /// Throws what keeps it from being stored; nothing of it is left then.
  func commit() async throws

  /// The body will not be complete: nothing of it is kept.
  func discard()
}

/// A stored response, with the way to its body.
public struct CacheEntry: Sendable {
  enum Body: Sendable {
    case bytes(Data)
    case source(@Sendable (Range<Int>) throws -> any HTTPBodySource)
  }

  /// The name by which its store knows it.
  public let id: String
  /// The response without its body.
  public let response: StoredResponse
  /// The length of the body in bytes.
  public let length: Int
  let body: Body

  /// An entry whose body is in memory.
  public init(id: String, _ response: StoredResponse, body: Data) {
    self.id = id
    self.response = response
    length = body.count
    self.body = .bytes(body)
  }

  /// An entry whose body is read as it is used.
  ///
  /// - Parameters:
  ///   - id: The name by which its store knows it.
  ///   - response: The response without its body.
  ///   - length: The length of the body in bytes.
  ///   - open: Opens the body at a range of its bytes; throws where it is no longer there.
  public init(
    id: String, _ response: StoredResponse, length: Int,
    open: @escaping @Sendable (_ range: Range<Int>) throws -> any HTTPBodySource
  ) {
    self.id = id
    self.response = response
    self.length = length
    body = .source(open)
  }

  /// The same body under another header.
  func with(_ response: StoredResponse) -> CacheEntry {
    switch body {
    case .bytes(let data): CacheEntry(id: id, response, body: data)
    case .source(let open): CacheEntry(id: id, response, length: length, open: open)
    }
  }

  /// The body, or a part of it.
  /// Throws where it is no longer there.
  func open(_ range: Range<Int>? = nil) throws -> HTTPResponseBody {
    switch body {
    case .bytes(let data): HTTPResponseBody(range.map { Data(data.dropFirst($0.lowerBound).prefix($0.count)) } ?? data)
    case .source(let open): HTTPResponseBody(try open(range ?? 0..<length))
    }
  }
}

/// The cache of a call that may neither read nor write it: what the call changes is still removed.
struct RemovingStore: CacheStore {
  private struct NotStored: Error {}

  let base: any CacheStore

  func entries(for key: CacheKey) async -> [CacheEntry] { [] }

  func store(_ response: StoredResponse, for key: CacheKey) async throws -> any CacheWriter { throw NotStored() }

  func update(_ entry: CacheEntry, to response: StoredResponse, for key: CacheKey) async throws { throw NotStored() }

  func remove(_ entry: CacheEntry, for key: CacheKey) async { await base.remove(entry, for: key) }

  func removeAll(for url: String) async { await base.removeAll(for: url) }

  func removeAll() async { await base.removeAll() }
}
