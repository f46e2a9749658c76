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
