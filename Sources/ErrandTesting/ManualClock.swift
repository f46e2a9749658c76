import Errand

/// A clock whose time a test moves: a sleeper wakes when the test has advanced far enough.
///
///     let clock = ManualClock()
///     let manager = TaskManager(clock: CallClock(clock))
///     async let widget = GetWidget(id: 7).on(shop).download()     // the server answers 503 first
///     await clock.sleepers(count: 1)                              // the call waits for its second attempt
///     clock.advance(by: .seconds(1))
///
/// Where a test cares for what happens and not for when, ``Mode/autoAdvancing`` needs no test to move it.
public final class ManualClock: Clock, Sendable {
  /// The one who moves the time.
  public enum Mode: Sendable, Hashable {
    /// The test, with ``ManualClock/advance(by:)``.
    case manual
    /// The sleepers: every sleep moves the time to its end and returns at once. A limit that a call waits beside its
    /// work, such as its deadline, has then passed at once.
    case autoAdvancing
  }

  /// A moment of a ``ManualClock``.
  public struct Instant: InstantProtocol {
    /// The time since the clock was made.
    public let offset: Duration

    /// A later moment.
    public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

    /// The time from here to another moment.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Earlier before later.
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

    /// Takes out those who wait for as many sleepers as there are.
    mutating func satisfied() -> [Spectator] {
      let count = sleepers.count
      defer { spectators.removeAll { $0.count <= count } }
      return spectators.filter { $0.count <= count }
    }
  }

  private let mode: Mode
  private let state = Lock(State())

  /// A clock at its beginning, moved by the test unless told otherwise.
  public init(_ mode: Mode = .manual) { self.mode = mode }

  /// The present moment.
  public var now: Instant { state.withLock { $0.now } }

  /// Nothing is shorter than what a duration can say.
  public var minimumResolution: Duration { .zero }

  /// The number of sleepers.
  public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  /// Moves the time, and wakes the sleepers that are due, the earliest first.
  public func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let now = state.now
      let due = state.sleepers.filter { $0.deadline <= now }.sorted { $0.deadline < $1.deadline }
      state.sleepers.removeAll { $0.deadline <= now }
      return due
    }
    for sleeper in due { sleeper.continuation.resume() }
  }

  /// Waits until at least `count` sleep; returns at once when the surrounding task is cancelled.
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

  /// Waits until the time has come.
  /// Throws `CancellationError` when the surrounding task is cancelled first.
  public func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    try Task.checkCancellation()
    guard mode == .manual else {
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
    enum Outcome {
      case due, cancelled
      case asleep([Spectator])
    }
    let outcome = state.withLock { state -> Outcome in
      if Task.isCancelled { return .cancelled }
      if sleeper.deadline <= state.now { return .due }
      state.sleepers.append(sleeper)
      return .asleep(state.satisfied())
    }
    switch outcome {
    case .due: sleeper.continuation.resume()
    case .cancelled: sleeper.continuation.resume(throwing: CancellationError())
    case .asleep(let spectators): for spectator in spectators { spectator.continuation.resume() }
    }
  }

  private func newID() -> Int {
    state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
  }
}
