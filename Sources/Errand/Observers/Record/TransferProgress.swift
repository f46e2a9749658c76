import ErrandFoundation

/// The progress of a request or response body.
///
///     try await Export().progress { bar.show($0.fraction) }.download(to: file)
public struct TransferProgress: Sendable, Hashable {
  /// The direction of a transfer.
  public enum Direction: Sendable, Hashable {
    /// The request body is being sent.
    case up
    /// The response body is being received.
    case down
  }

  /// The direction of the transfer.
  public let direction: Direction
  /// The attempt's number, starting at 1. Progress restarts with every attempt, and when a body is resent within an
  /// attempt: after a redirect, or on a new connection because the old one was stale.
  public let attempt: Int
  /// The number of bytes transferred so far. Request bodies are counted after compression, response bodies after
  /// decompression.
  public let completed: Int64
  /// The total number of bytes. `nil` if unknown.
  public let total: Int64?
  /// The transfer rate in bytes per second, smoothed over the last few seconds. `nil` until it has been measured.
  public let rate: Double?
  /// Whether the entire body has been sent or received.
  public let isFinished: Bool

  package init(
    direction: Direction, attempt: Int, completed: Int64, total: Int64?, rate: Double?, isFinished: Bool
  ) {
    self.direction = direction
    self.attempt = attempt
    self.completed = completed
    self.total = total
    self.rate = rate
    self.isFinished = isFinished
  }

  /// The completed fraction, from 0 to 1. `nil` if the total is unknown.
  public var fraction: Double? {
    if isFinished { return 1 }
    return total.flatMap { $0 > 0 ? min(1, Double(completed) / Double($0)) : nil }
  }

  /// The estimated remaining time at the current rate. `nil` if it can't be estimated.
  public var remaining: Duration? {
    if isFinished { return .zero }
    guard let total, let rate, rate > 0, total >= completed else { return nil }
    return .seconds(min(Double(total - completed) / rate, 1e9))
  }
}

extension TransferProgress: CustomStringConvertible {
  /// The number of bytes transferred so far, and the total if known.
  public var description: String {
    "\(completed) \(total.map { "of \($0) " } ?? "")bytes \(direction == .up ? "sent" : "received")\(isFinished ? ", complete" : "")"
  }
}

/// Counts the bytes of one body and limits how often progress is reported.
package struct ProgressMeter {
  static let interval = Duration.milliseconds(50)
  /// The time over which the rate is smoothed, in seconds.
  private static let window = 3.0

  let direction: TransferProgress.Direction
  let attempt: Int
  let total: Int64?
  private var completed: Int64 = 0
  private var rate: Double?
  private var reported: (time: Duration, completed: Int64)
  private var hasReported = false
  private let start: Duration

  package init(_ direction: TransferProgress.Direction, attempt: Int, total: Int64?, at now: Duration) {
    self.direction = direction
    self.attempt = attempt
    self.total = total
    reported = (now, 0)
    start = now
  }

  /// Counts bytes and returns the progress if a report is due.
  package mutating func add(_ count: Int, at now: Duration) -> TransferProgress? {
    completed += Int64(count)
    guard !hasReported || now - reported.time >= Self.interval else { return nil }
    return progress(at: now, isFinished: false)
  }

  package mutating func finish(at now: Duration) -> TransferProgress { progress(at: now, isFinished: true) }

  private mutating func progress(at now: Duration, isFinished: Bool) -> TransferProgress {
    let (seconds, age) = ((now - reported.time) / .seconds(1), (now - start) / .seconds(1))
    if age >= Self.interval / .seconds(1), seconds > 0 {
      // Use the average since the start at first, then a moving average. Skip the first interval, which is too short
      // to measure.
      let present = Double(completed - reported.completed) / seconds
      let mean = Double(completed) / age
      rate = age <= Self.window ? mean : rate.map { $0 + (present - $0) * seconds / (seconds + Self.window) } ?? mean
    }
    reported = (now, completed)
    hasReported = true
    return TransferProgress(
      direction: direction, attempt: attempt, completed: completed, total: total, rate: rate, isFinished: isFinished)
  }
}
