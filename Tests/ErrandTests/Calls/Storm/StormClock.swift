import ErrandTesting

@testable import Errand

/// A virtual clock that advances to the next alarm whenever the program is idle.
///
/// Unlike an auto-advancing `ManualClock`, this clock lets work that takes less virtual time finish before a concurrent
/// timer, such as a deadline, fires.
final class StormClock: Clock, Sendable {
  struct Instant: InstantProtocol {
    let offset: Duration

    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct Alarm: Comparable {
    let time: Duration
    let id: Int

    static func < (left: Alarm, right: Alarm) -> Bool { (left.time, left.id) < (right.time, right.id) }
  }

  private struct State {
    var now = Duration.zero
    var lastID = 0
    /// Includes the alarms of cancelled sleepers.
    var alarms = MinHeap<Alarm>()
    var sleepers: [Int: CheckedContinuation<Void, any Error>] = [:]
    /// The number of reads and sleeps, used to detect whether the program is idle.
    var uses = 0
    var usesBefore = -1
  }

  private let state = Shared(State())

  var minimumResolution: Duration { .zero }
  var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  var now: Instant {
    state.withLock { state in
      state.uses += 1
      return Instant(offset: state.now)
    }
  }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let id = state.withLock { state in
      state.lastID += 1
      state.uses += 1
      return state.lastID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let isCancelled = state.withLock { state in
          guard !Task.isCancelled else { return true }
          state.sleepers[id] = continuation
          state.alarms.insert(Alarm(time: deadline.offset, id: id))
          return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
      }
    } onCancel: {
      state.withLock { $0.sleepers.removeValue(forKey: id) }?.resume(throwing: CancellationError())
    }
  }

  /// Advances the time until the current Swift task is cancelled.
  func run() async {
    while !Task.isCancelled {
      for sleeper in due() { sleeper.resume() }
      await giveWay()
    }
  }

  /// Advances the time to the next alarm, or by at most one tick if the clock has been used since the last call.
  /// Returns the sleepers to wake.
  private func due() -> [CheckedContinuation<Void, any Error>] {
    state.withLock { state in
      while let first = state.alarms.first, state.sleepers[first.id] == nil { state.alarms.removeFirst() }
      let isIdle = state.uses == state.usesBefore
      state.usesBefore = state.uses
      guard let first = state.alarms.first else { return [] }
      state.now = max(state.now, isIdle ? first.time : min(first.time, state.now + .ticks(1)))
      var due: [CheckedContinuation<Void, any Error>] = []
      while let first = state.alarms.first, first.time <= state.now {
        state.alarms.removeFirst()
        if let sleeper = state.sleepers.removeValue(forKey: first.id) { due.append(sleeper) }
      }
      return due
    }
  }
}

extension Duration {
  /// A duration in ticks, the unit of virtual time. A tick is long, so the library does not pause for many ticks.
  static func ticks(_ count: Int) -> Duration { .milliseconds(50 * count) }
}
