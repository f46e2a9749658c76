import ErrandFoundation

/// The URLs whose responses were made stale, and when: a response that was requested earlier is not stored.
final class InvalidationLog: Sendable {
  private struct State {
    var count = 0
    /// The last change of each URL, by its number.
    var last: [String: Int] = [:]
    /// The number before which changes are no longer known one by one.
    var floor = 0
  }

  private let state = Lock(State())
  private static let limit = 1000

  /// The number of changes so far.
  var count: Int { state.withLock { $0.count } }

  /// Notes a change of a URL.
  func note(_ url: String) {
    state.withLock { state in
      state.count += 1
      if state.last.count >= Self.limit { (state.last, state.floor) = ([:], state.count) }
      state.last[url] = state.count
    }
  }

  /// True where a URL has not changed since there were `count` changes.
  func isUnchanged(_ url: String, since count: Int) -> Bool {
    state.withLock { count >= max($0.floor, $0.last[url] ?? 0) }
  }
}

/// Stores a response unless its URL was invalidated between the request and the end of the body.
struct CurrentWriter: CacheWriter {
  let writer: any CacheWriter
  let store: any CacheStore
  let url: String
  let desk: InvalidationLog
  /// The number of changes when the request was sent.
  let count: Int

  private var isCurrent: Bool { desk.isUnchanged(url, since: count) }

  func write(_ data: Data) async throws { try await writer.write(data) }

  func commit() async throws {
    guard isCurrent else { return writer.discard() }
    try await writer.commit()
    // Changed while it was committed: it may have come after what the change removed.
    if !isCurrent { await store.removeAll(for: url) }
  }

  func discard() { writer.discard() }

  /// Stores a body that is complete. If the store fails, nothing is kept, and the caller still has the body.
  func fill(from contents: HTTPBody) async {
    do {
      try await contents.forEachChunk { try await write($0) }
      try await commit()
    } catch {
      discard()
    }
  }
}
