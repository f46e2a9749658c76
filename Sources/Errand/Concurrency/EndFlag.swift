/// Whether something has ended, for several that hold it. A class, for a lock by itself would be boxed with its metadata, which is looked up
/// where the work is generic.
final class EndFlag: Sendable {
  private let state = Lock(false)

  var hasEnded: Bool { state.withLock { $0 } }

  func end() { state.withLock { $0 = true } }
}
