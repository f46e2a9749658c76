/// How far many tasks may run ahead of whoever reads their results, and whose turn it is: the bookkeeping, pure.
///
/// At most `limit` run, which is up to the owner; at most twice as many are taken from the source and not handed over, so
/// that what is held does not depend on how many there are.
struct TaskWindow<Outcome: Sendable, Failure: Error>: Sendable {
  /// What there is for a reader.
  enum Step: Sendable {
    case outcome(Outcome)
    case wait
    /// The source has failed; said once.
    case failure(Failure)
    case over
  }

  /// When the failure of the source is said.
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

  /// What was not handed over, by its turn: its place in the source, or the how manieth it was to finish.
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

  /// Whether one more may be taken from the source.
  var hasRoom: Bool { !isOver && taken - handedOver < 2 * limit }

  /// Whether nothing is taken any more.
  var isOver: Bool { isSourceOver || isClosed }

  var progress: TaskBatchProgress {
    TaskBatchProgress(
      started: taken, finished: finished, failed: failed,
      total: expected > 0 || isSourceOver ? max(expected, taken) : nil)
  }

  /// One was taken from the source; returns its place.
  mutating func take() -> Int {
    defer { taken += 1 }
    return taken
  }

  /// The one at `place` has ended.
  mutating func finish(_ place: Int, _ outcome: Outcome, isFailed: Bool) {
    let turn = order == .submitted ? place : finished
    finished += 1
    if isFailed { failed += 1 }
    if !isClosed { held[turn] = outcome }
  }

  /// The source has no more, or has failed.
  mutating func endSource(_ failure: Failure? = nil) {
    isSourceOver = true
    self.failure = failure ?? self.failure
  }

  /// Nobody reads any more.
  mutating func close() {
    isClosed = true
    held = [:]
  }

  /// Whether a reader need not wait.
  var hasStep: Bool {
    isClosed || held[handedOver] != nil || (sourceFailure == .first && failure != nil)
      || (isSourceOver && handedOver == taken)
  }

  /// What a reader gets now.
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

/// How far many tasks are, at one moment.
///
///     let results = shop.manager.results(of: tasks, limit: 8)
///     for await (task, result) in results {
///       print(results.progress)  // 120 of 200 finished, 8 under way, 1 failed
///     }
///
/// It counts tasks, not bytes, and is a value: read it as often as it is to be shown.
public struct TaskBatchProgress: Hashable, Sendable, CustomStringConvertible {
  /// How many were taken from the source and begun.
  public let started: Int
  /// How many of those have ended, well or not, read or not.
  public let finished: Int
  /// How many of the finished have failed or were cancelled.
  public let failed: Int
  /// How many there are: what the source says before it is read, as collections do, else known when it has ended; nil
  /// until then.
  public let total: Int?

  /// How many are under way, waiting for a slot included.
  public var running: Int { started - finished }

  /// Which part has finished, from 0 to 1; nil while it is not known of how many.
  public var fraction: Double? { total.map { $0 == 0 ? 1 : Double(finished) / Double($0) } }

  /// One line: `120 of 200 finished, 8 under way, 1 failed`.
  public var description: String {
    let count = total.map { "\(finished) of \($0) finished" } ?? "\(finished) finished"
    return count + (running > 0 ? ", \(running) under way" : "") + (failed > 0 ? ", \(failed) failed" : "")
  }
}
