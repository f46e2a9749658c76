import ErrandFoundation

/// A store's writer for one response. Errors don't reach the reader of the body.
final class StoreWriter: Sendable {
  private enum State {
    case writing(any CacheWriter)
    case failed
    case ended
  }

  private let state: Lock<State>

  init(_ writer: any CacheWriter) { state = Lock(.writing(writer)) }

  deinit { discard() }

  func write(_ chunk: Data) async {
    guard case .writing(let writer) = state.withLock({ $0 }) else { return }
    do {
      try await writer.write(chunk)
    } catch {
      end(as: .failed)?.discard()  // too large, or the disk is full
    }
  }

  /// Stores the complete body. Returns `false` if the store can't keep the response.
  func commit() async -> Bool {
    if case .failed = state.withLock({ $0 }) { return false }
    do {
      try await end(as: .ended)?.commit()
      return true
    } catch {
      return false
    }
  }

  func discard() { end(as: .ended)?.discard() }

  private func end(as ending: State) -> (any CacheWriter)? {
    state.withLock { state in
      guard case .writing(let writer) = state else { return nil }
      state = ending
      return writer
    }
  }
}
