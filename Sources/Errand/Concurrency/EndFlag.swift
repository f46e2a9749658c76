/// A shared flag that is set once something has ended. A class, because generic code would box a bare lock and look up
/// its metadata.
final class EndFlag: Sendable {
  private let state = Lock(false)

  var hasEnded: Bool { state.withLock { $0 } }

  func end() { state.withLock { $0 = true } }
}
