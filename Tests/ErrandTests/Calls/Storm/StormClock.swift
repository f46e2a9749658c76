import ErrandTesting

@testable import Errand

/// A virtual clock that moves to the next sleeper when nothing else happens.
///
/// Unlike with `ManualClock` in its automatic mode, a timer that runs concurrently with work, such as a deadline, ends
/// after work that takes less virtual time.
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
    /// The number of reads and sleeps, to detect when nothing happens.
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

  /// Advances the time until the surrounding task is cancelled.
  func run() async {
    while !Task.isCancelled {
      for sleeper in due() { sleeper.resume() }
      await giveWay()
    }
  }

  /// Advances the time to the next alarm, or by at most a tick if the clock has been used since. Returns the sleepers
  /// to wake.
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
  /// The unit of virtual time. The library's pauses of a few seconds are not much longer than a storm's delays.
  static func ticks(_ count: Int) -> Duration { .milliseconds(50 * count) }
}
