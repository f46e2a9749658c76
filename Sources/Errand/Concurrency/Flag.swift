/// A shared flag that marks the end of something. A class, because generic code boxes a bare lock and looks up its
/// metadata.
final class Flag: Sendable {
  private let state = Lock(false)

  var hasEnded: Bool { state.withLock { $0 } }

  func end() { state.withLock { $0 = true } }
}
