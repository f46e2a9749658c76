/// A shared flag that is set once, when something ends. It is a class because generic code would box a bare lock and
/// look up its metadata.
final class Flag: Sendable {
  private let state = Lock(false)

  var hasEnded: Bool { state.withLock { $0 } }

  /// Sets the flag. Returns `false` if it was already set.
  @discardableResult func end() -> Bool {
    state.withLock { hasEnded in
      defer { hasEnded = true }
      return !hasEnded
    }
  }
}
