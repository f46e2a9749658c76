/// The window by which many tasks may run ahead of the reader of their results, and the order of results; pure.
///
/// At most `limit` run, which is up to the owner. At most twice as many are taken from the source and not handed over,
/// so that memory does not depend on the number of tasks.
struct TaskWindow<Outcome: Sendable, Failure: Error>: Sendable {
  /// A reader's next step.
  enum Step: Sendable {
    case outcome(Outcome)
    case wait
    /// The source has failed; reported once.
    case failure(Failure)
    case over
  }

  /// The moment to report a failure of the source.
  enum SourceFailure: Sendable {
    /// After all outcomes.
    case last
    /// At once; outcomes are of no use any more.
    case first
  }

  let limit: Int
  private let order: ResultOrder
  private let sourceFailure: SourceFailure
  private let expected: Int

  /// The outcomes not handed over, by turn: the place in the source, or in the order of finishing.
  private var held: [Int: Outcome] = [:]
  private var taken = 0
  private var finished = 0
  private var failed = 0
  private var handedOver = 0
  private var isSourceOver = false
  private var failure: Failure?
  private(set) var isClosed = false

  /// A window before anything was taken; `expected` is 0 where the source does not say how many it has.
  init(limit: Int, order: ResultOrder, sourceFailure: SourceFailure = .last, expected: Int = 0) {
    self.limit = min(max(1, limit), .max / 2)
    self.order = order
    self.sourceFailure = sourceFailure
    self.expected = expected
  }

  /// True while one more may be taken from the source.
  var hasRoom: Bool { !isOver && taken - handedOver < 2 * limit }

  /// True once nothing is taken any more.
  var isOver: Bool { isSourceOver || isClosed }

  var progress: TaskBatchProgress {
    TaskBatchProgress(
      started: taken, finished: finished, failed: failed,
      total: expected > 0 || isSourceOver ? max(expected, taken) : nil)
  }

  /// Counts a task taken from the source; returns its place.
  mutating func take() -> Int {
    defer { taken += 1 }
    return taken
  }

  /// Keeps the outcome of the task at `place`.
  mutating func finish(_ place: Int, _ outcome: Outcome, isFailed: Bool) {
    let turn = order == .submitted ? place : finished
    finished += 1
    if isFailed { failed += 1 }
    if !isClosed { held[turn] = outcome }
  }

  /// Ends the source: it has no more, or has failed.
  mutating func endSource(_ failure: Failure? = nil) {
    isSourceOver = true
    self.failure = failure ?? self.failure
  }

  /// Ends the reading, and drops all outcomes.
  mutating func close() {
    isClosed = true
    held = [:]
  }

  /// True when a reader need not wait.
  var hasStep: Bool {
    isClosed || held[handedOver] != nil || (sourceFailure == .first && failure != nil)
      || (isSourceOver && handedOver == taken)
  }

  /// Takes a reader's next step.
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

/// The progress of many tasks, at one moment.
///
///     let results = shop.manager.results(of: tasks, limit: 8)
///     for await (task, result) in results {
///       print(results.progress)  // 120 of 200 finished, 8 under way, 1 failed
///     }
///
/// It counts tasks, not bytes, and is a value: read it as often as it is to be shown.
public struct TaskBatchProgress: Hashable, Sendable, CustomStringConvertible {
  /// The number of tasks taken from the source and begun.
  public let started: Int
  /// The number of those that have ended, well or not, read or not.
  public let finished: Int
  /// The number of the finished that failed or were cancelled.
  public let failed: Int
  /// The number of all tasks: given by the source before it is read, as collections do, else known when it has ended;
  /// nil until then.
  public let total: Int?

  /// The number of tasks in flight, waiting for a slot included.
  public var running: Int { started - finished }

  /// The fraction that has finished, from 0 to 1; nil while the total is not known.
  public var fraction: Double? { total.map { $0 == 0 ? 1 : Double(finished) / Double($0) } }

  /// One line: `120 of 200 finished, 8 under way, 1 failed`.
  public var description: String {
    let count = total.map { "\(finished) of \($0) finished" } ?? "\(finished) finished"
    return count + (running > 0 ? ", \(running) under way" : "") + (failed > 0 ? ", \(failed) failed" : "")
  }
}
