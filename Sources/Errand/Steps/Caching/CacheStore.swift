public import ErrandFoundation

/// A store for responses: ``MemoryCache``, ``DiskCache``, or your own.
///
/// A store only saves and returns responses: Errand decides which responses can be stored and used. Errand calls the
/// store's methods concurrently. If a method throws an error, the response is not stored, but the call does not fail. A
/// store can drop responses at any time.
public protocol CacheStore: Sendable {
  /// Returns the responses stored under a key, in any order.
  func entries(for key: CacheKey) async -> [CacheEntry]

  /// Starts storing a response, whose body is written in chunks. The response can't be found until its writer commits
  /// it. At that point, it replaces the responses that it supersedes (``StoredResponse/supersedes(_:)``).
  /// Throws an error if the response can't be stored.
  func store(_ response: StoredResponse, for key: CacheKey) async throws -> any CacheWriter

  /// Replaces the header of a stored response after a validation. The body is kept.
  /// Throws an error if the header can't be stored.
  func update(_ entry: CacheEntry, to response: StoredResponse, for key: CacheKey) async throws

  /// Removes a stored response.
  func remove(_ entry: CacheEntry, for key: CacheKey) async

  /// Removes all responses for a URL, regardless of their credentials.
  func removeAll(for url: String) async

  /// Removes all responses.
  func removeAll() async
}

/// Writes the body of a response to a store. Errand calls ``commit()`` or ``discard()`` at the end.
public protocol CacheWriter: Sendable {
  /// Appends a chunk of the body.
  /// Throws an error if the chunk can't be stored. In that case, Errand calls ``discard()`` next.
  func write(_ data: Data) async throws

  /// Completes the body. From then on, the response can be found.
  /// Throws an error if the response can't be stored. In that case, nothing is kept.
  func commit() async throws

  /// Discards an incomplete body.
  func discard()
}

/// A stored response with access to its body.
public struct CacheEntry: Sendable {
  enum Body: Sendable {
    case bytes(Data)
    case source(@Sendable (Range<Int>) throws -> any HTTPBodySource)
  }

  /// The identifier of the entry in its store.
  public let id: String
  /// The response without its body.
  public let response: StoredResponse
  /// The length of the body in bytes.
  public let length: Int
  let body: Body

  /// Creates an entry with a body in memory.
  public init(id: String, _ response: StoredResponse, body: Data) {
    self.id = id
    self.response = response
    length = body.count
    self.body = .bytes(body)
  }

  /// Creates an entry whose body is read on demand. `open` opens the body at a byte range and throws an error if the
  /// body no longer exists.
  public init(
    id: String, _ response: StoredResponse, length: Int,
    open: @escaping @Sendable (_ range: Range<Int>) throws -> any HTTPBodySource
  ) {
    self.id = id
    self.response = response
    self.length = length
    body = .source(open)
  }

  func with(_ response: StoredResponse) -> CacheEntry {
    switch body {
    case .bytes(let data): CacheEntry(id: id, response, body: data)
    case .source(let open): CacheEntry(id: id, response, length: length, open: open)
    }
  }

  /// Opens the body at a byte range. Throws an error if the body no longer exists.
  func open(_ range: Range<Int>? = nil) throws -> HTTPResponseBody {
    switch body {
    case .bytes(let data): HTTPResponseBody(range.map { Data(data.dropFirst($0.lowerBound).prefix($0.count)) } ?? data)
    case .source(let open): HTTPResponseBody(try EntryBody(range ?? 0..<length, open))
    }
  }
}

/// The body of an entry. Every reader opens it again.
private final class EntryBody: FileBody {
  private let range: Range<Int>
  private let open: @Sendable (Range<Int>) throws -> any HTTPBodySource
  /// The source for the first reader, opened when the entry was chosen, because its file may be removed.
  private let first: Lock<(any HTTPBodySource)?>

  init(_ range: Range<Int>, _ open: @escaping @Sendable (Range<Int>) throws -> any HTTPBodySource) throws {
    (self.range, self.open) = (range, open)
    first = Lock(try open(range))
  }

  func reader() throws -> any HTTPBodySource {
    EntryReader(try first.withLock { $0.take() } ?? open(range), length: range.count)
  }
}

/// Reads an entry's body. Throws ``TaskError`` with code `.truncatedBody` if its length differs from the entry's, because
/// the store may be an app's own.
private final class EntryReader: HTTPBodySource {
  private let source: any HTTPBodySource
  private let missing: Lock<Int>

  init(_ source: any HTTPBodySource, length: Int) {
    self.source = source
    missing = Lock(length)
  }

  func next() async throws -> Data? {
    let chunk = try await source.next()
    let missing = missing.withLock { missing in
      missing -= chunk?.count ?? 0
      return missing
    }
    guard missing >= 0, missing == 0 || chunk != nil else {
      throw TaskError(
        .truncatedBody, "the cache store returned a body whose length differs from CacheEntry.length", phase: .receiving
      )
    }
    return chunk
  }

  func cancel() { source.cancel() }
}

/// The store for a call that neither reads nor writes the cache, but still removes the responses that the call
/// invalidates.
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
