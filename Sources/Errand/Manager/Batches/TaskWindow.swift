/// Limits how far a batch of tasks can run ahead of its reader and orders the results.
///
/// The owner runs at most `limit` tasks concurrently. Up to twice as many tasks can be running or have unread results,
/// so memory use does not depend on the number of tasks.
struct TaskWindow<Outcome: Sendable, Failure: Error>: Sendable {
  enum Step: Sendable {
    case outcome(Outcome)
    case wait
    /// The source has failed. Returned only once.
    case failure(Failure)
    case over
  }

  /// When to report the source's failure.
  enum SourceFailure: Sendable {
    /// After all outcomes.
    case last
    /// Immediately, discarding the outcomes.
    case first
  }

  let limit: Int
  private let order: ResultOrder
  private let sourceFailure: SourceFailure
  private let expected: Int

  /// The unread outcomes, keyed by their position in the source or in the order of completion.
  private var held: [Int: Outcome] = [:]
  private var taken = 0
  private var finished = 0
  private var failed = 0
  private var handedOver = 0
  private var isSourceOver = false
  private var failure: Failure?
  private(set) var isClosed = false

  /// Creates an empty window. `expected` is 0 if the source does not know its length.
  init(limit: Int, order: ResultOrder, sourceFailure: SourceFailure = .last, expected: Int = 0) {
    self.limit = min(max(1, limit), .max / 2)
    self.order = order
    self.sourceFailure = sourceFailure
    self.expected = expected
  }

  var hasRoom: Bool { !isOver && taken - handedOver < 2 * limit }

  var isOver: Bool { isSourceOver || isClosed }

  var progress: TaskBatchProgress {
    TaskBatchProgress(
      started: taken, finished: finished, failed: failed,
      total: expected > 0 || isSourceOver ? max(expected, taken) : nil)
  }

  mutating func take() -> Int {
    defer { taken += 1 }
    return taken
  }

  mutating func finish(_ place: Int, _ outcome: Outcome, isFailed: Bool) {
    let turn = order == .submitted ? place : finished
    finished += 1
    if isFailed { failed += 1 }
    if !isClosed { held[turn] = outcome }
  }

  /// Records that the source is exhausted or has failed.
  mutating func endSource(_ failure: Failure? = nil) {
    isSourceOver = true
    self.failure = failure ?? self.failure
  }

  /// Closes the window: discards all outcomes, and `next()` returns `.over` from then on.
  mutating func close() {
    isClosed = true
    held = [:]
  }

  /// Whether `next()` returns something other than `.wait`.
  var hasStep: Bool {
    isClosed || held[handedOver] != nil || (sourceFailure == .first && failure != nil)
      || (isSourceOver && handedOver == taken)
  }

  mutating func next() -> Step {
    guard hasStep else { return .wait }
    if isClosed { return .over }
    if sourceFailure == .first, let failure { return end(failure) }
    if let outcome = held.removeValue(forKey: handedOver) {
      handedOver += 1
      return .outcome(outcome)
    }
    return failure.map { end($0) } ?? .over
  }

  private mutating func end(_ failure: Failure) -> Step {
    close()
    return .failure(failure)
  }
}

/// The progress of a batch of tasks.
///
///     let results = shop.manager.results(of: tasks, limit: 8)
///     for await (task, result) in results {
///       print(results.progress)  // 120 of 200 finished, 8 under way, 1 failed
///     }
///
/// The progress counts tasks, not bytes. It is a snapshot: read it again to get current numbers.
public struct TaskBatchProgress: Hashable, Sendable, CustomStringConvertible {
  /// The number of tasks started.
  public let started: Int
  /// The number of tasks that have ended, successfully or not, even if their results have not been read.
  public let finished: Int
  /// The number of finished tasks that failed or were cancelled.
  public let failed: Int
  /// The total number of tasks. A collection provides the total in advance. For other sequences, it is `nil` until the
  /// sequence has ended.
  public let total: Int?

  /// The number of tasks in flight, including those that wait for a slot.
  public var running: Int { started - finished }

  /// The fraction of tasks that have finished, from 0 to 1. `nil` if the total is unknown.
  public var fraction: Double? { total.map { $0 == 0 ? 1 : Double(finished) / Double($0) } }

  /// A single line, such as `120 of 200 finished, 8 under way, 1 failed`.
  public var description: String {
    let count = total.map { "\(finished) of \($0) finished" } ?? "\(finished) finished"
    return count + (running > 0 ? ", \(running) under way" : "") + (failed > 0 ? ", \(failed) failed" : "")
  }
}
