import Dispatch
import Errand

/// A clock controlled by a test. Sleeping tasks wake up when the test has advanced the clock far enough.
///
///     let clock = ManualClock()
///     let manager = TaskManager(clock: CallClock(clock))
///     async let widget = GetWidget(id: 7).on(shop).send()     // the server answers 503 first
///     await clock.sleepers(count: 1)                              // the call is waiting to retry
///     clock.advance(by: .seconds(1))
///
/// If a test does not depend on timing, use ``Mode/autoAdvancing``, so that you don't need to advance the clock.
public final class ManualClock: Clock, Sendable {
  /// How the clock advances.
  public enum Mode: Sendable, Hashable {
    /// The test advances the clock with ``ManualClock/advance(by:)``.
    case manual
    /// Every sleep advances the clock to the end of the sleep and returns immediately. Therefore, a time limit that
    /// runs concurrently with the work, such as a deadline, expires immediately.
    case autoAdvancing
    /// The clock advances to the end of the shortest sleep when no task has used it for about half a millisecond.
    /// Therefore, a time limit only expires if the concurrent work sleeps longer. On a busy machine, the clock can
    /// advance while a task is about to sleep.
    case whenIdle
  }

  /// An instant of a ``ManualClock``.
  public struct Instant: InstantProtocol {
    /// The time since the clock was created.
    public let offset: Duration

    /// Returns an instant offset by a duration.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    /// Returns the duration from this instant to another.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Whether the first instant is earlier.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct Sleeper {
    let id: Int
    let deadline: Instant
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct Spectator {
    let id: Int
    let count: Int
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var now = Instant(offset: .zero)
    var lastID = 0
    var sleepers: [Sleeper] = []
    var spectators: [Spectator] = []
    /// The number of reads and sleeps, which shows whether the clock is idle.
    var uses = 0
    var isWatched = false

    mutating func satisfied() -> [Spectator] {
      let count = sleepers.count
      defer { spectators.removeAll { $0.count <= count } }
      return spectators.filter { $0.count <= count }
    }
  }

  private let mode: Mode
  private let state = Lock(State())

  /// Creates a clock at zero. Defaults to ``Mode/manual``.
  public init(_ mode: Mode = .manual) { self.mode = mode }

  /// The current instant.
  public var now: Instant {
    state.withLock { state in
      state.uses += 1
      return state.now
    }
  }

  /// Zero, because any duration can be represented.
  public var minimumResolution: Duration { .zero }

  /// The number of sleeping tasks.
  public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  /// Advances the clock and wakes the sleepers that are due, earliest first.
  public func advance(by duration: Duration) { wake { $0.now.advanced(by: duration) } }

  /// Advances the clock to an instant and wakes the sleepers that are due.
  private func wake(_ advanced: (State) -> Instant) {
    let due = state.withLock { state in
      let now = advanced(state)
      state.now = now
      let due = state.sleepers.filter { $0.deadline <= now }.sorted { $0.deadline < $1.deadline }
      state.sleepers.removeAll { $0.deadline <= now }
      return due
    }
    for sleeper in due { sleeper.continuation.resume() }
  }

  /// Waits until at least `count` tasks are sleeping. Returns immediately if the surrounding task is cancelled.
  public func sleepers(count: Int) async {
    let id = newID()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          guard state.sleepers.count < count, !Task.isCancelled else { return true }
          state.spectators.append(Spectator(id: id, count: count, continuation: continuation))
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      let spectator = state.withLock { state -> Spectator? in
        guard let index = state.spectators.firstIndex(where: { $0.id == id }) else { return nil }
        return state.spectators.remove(at: index)
      }
      spectator?.continuation.resume()
    }
  }

  /// Sleeps until `deadline`. Throws `CancellationError` if the surrounding task is cancelled first.
  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try Task.checkCancellation()
    guard mode != .autoAdvancing else {
      state.withLock { $0.now = max($0.now, deadline) }
      return await Task.yield()
    }
    let id = newID()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        enter(Sleeper(id: id, deadline: deadline, continuation: continuation))
      }
    } onCancel: {
      let sleeper = state.withLock { state -> Sleeper? in
        guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else { return nil }
        return state.sleepers.remove(at: index)
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }

  private func enter(_ sleeper: Sleeper) {
    enum SleepResult {
      case due, cancelled
      case asleep([Spectator])
    }
    let outcome = state.withLock { state -> SleepResult in
      if Task.isCancelled { return .cancelled }
      if sleeper.deadline <= state.now { return .due }
      state.sleepers.append(sleeper)
      state.uses += 1
      return .asleep(state.satisfied())
    }
    switch outcome {
    case .due: sleeper.continuation.resume()
    case .cancelled: sleeper.continuation.resume(throwing: CancellationError())
    case .asleep(let spectators):
      for spectator in spectators { spectator.continuation.resume() }
      if mode == .whenIdle { watch() }
    }
  }

  private func watch() {
    let isWatched = state.withLock { state in
      defer { state.isWatched = true }
      return state.isWatched
    }
    if !isWatched { look(0, uses: -1) }
  }

  /// Checks the clock until no task is sleeping. Advances it if no task has used it for several checks.
  private func look(_ quietLooks: Int, uses: Int) {
    // Swift's tasks run on this queue too, so work that is ready runs before the next check.
    DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(50)) { [self] in
      let (isOver, usesNow) = state.withLock { state in
        state.isWatched = !state.sleepers.isEmpty
        return (!state.isWatched, state.uses)
      }
      if isOver { return }
      guard usesNow == uses else { return look(0, uses: usesNow) }
      guard quietLooks == Self.quietLooks else { return look(quietLooks + 1, uses: uses) }
      wake { state in max(state.now, state.sleepers.map(\.deadline).min() ?? state.now) }
      look(0, uses: uses)
    }
  }

  /// The number of checks without a use after which the clock counts as idle.
  private static let quietLooks = 8

  private func newID() -> Int {
    state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
  }
}
