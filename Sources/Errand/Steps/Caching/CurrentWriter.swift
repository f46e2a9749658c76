import ErrandFoundation

/// Stores a response unless its URL was invalidated, or its account's tokens were forgotten, between the request and the
/// end of the body. If the store can't keep the response, removes the older responses that it replaces. The caller has
/// the body in any case.
struct CurrentWriter: Sendable {
  let writer: StoreWriter
  let store: any CacheStore
  let url: String
  let account: RequestAccount?
  let log: InvalidationLog
  let count: Int
  let removeReplaced: @Sendable () async -> Void

  private var isCurrent: Bool { log.isUnchanged(url, since: count) && account?.isForgotten != true }

  func write(_ data: Data) async { await writer.write(data) }

  /// Stores the complete body.
  func commit() async {
    guard isCurrent else { return writer.discard() }
    if await !writer.commit() { await removeReplaced() }
    // If this changed during the commit, a removal may have missed this response.
    if !isCurrent { await store.removeAll(for: url) }
  }

  func discard() { writer.discard() }

  func fill(from contents: any HTTPBodySource) async {
    do {
      while let chunk = try await contents.next() {
        try Task.checkCancellation()
        await write(chunk)
      }
      await commit()
    } catch {
      discard()
    }
  }
}
