import ErrandFoundation

/// The progress of a body that goes up or comes down.
///
///     try await Export().progress { bar.show($0.fraction) }.download(to: file)
public struct TransferProgress: Sendable, Hashable {
  /// The way that a body takes.
  public enum Direction: Sendable, Hashable {
    /// The request's body goes up.
    case up
    /// The response's body comes down.
    case down
  }

  /// The way that the body takes.
  public let direction: Direction
  /// The number of the attempt, counted from 1. Each begins anew, as does a body that is sent once more within one: after a
  /// redirect, or on a fresh connection in the place of a dead one.
  public let attempt: Int
  /// The bytes so far: those of a body that goes up as it is sent, packed where it is; those of one that comes down once they
  /// are unpacked.
  public let completed: Int64
  /// The bytes in all; nil where that is not known.
  public let total: Int64?
  /// The bytes of a second, smoothed over the last few; nil until there is a measure.
  public let rate: Double?
  /// True when the whole body has gone up or come down.
  public let isFinished: Bool

  /// The part that is done, from 0 to 1; nil where the whole is not known.
  public var fraction: Double? {
    if isFinished { return 1 }
    return total.flatMap { $0 > 0 ? min(1, Double(completed) / Double($0)) : nil }
  }

  /// The time that the rest takes at the present rate; nil where that cannot be told.
  public var remaining: Duration? {
    if isFinished { return .zero }
    guard let total, let rate, rate > 0, total >= completed else { return nil }
    return .seconds(min(Double(total - completed) / rate, 1e9))
  }
}

extension TransferProgress: CustomStringConvertible {
  /// The bytes so far, and of how many.
  public var description: String {
    "\(completed) \(total.map { "of \($0) " } ?? "")bytes \(direction == .up ? "up" : "down")\(isFinished ? ", all" : "")"
  }
}

/// Counts the bytes of one body, and says when that is worth telling: at most 20 times a second, and at the end. Pure.
struct ProgressMeter {
  /// The time between two that are told.
  static let interval = Duration.milliseconds(50)
  /// The time over which the rate is smoothed, in seconds.
  private static let window = 3.0

  let direction: TransferProgress.Direction
  let attempt: Int
  let total: Int64?
  private var completed: Int64 = 0
  private var rate: Double?
  private var told: (time: Duration, completed: Int64)
  private var hasTold = false
  private let start: Duration

  init(_ direction: TransferProgress.Direction, attempt: Int, total: Int64?, at now: Duration) {
    self.direction = direction
    self.attempt = attempt
    self.total = total
    told = (now, 0)
    start = now
  }

  /// Counts bytes; returns the progress where it is time to tell.
  mutating func add(_ count: Int, at now: Duration) -> TransferProgress? {
    completed += Int64(count)
    guard !hasTold || now - told.time >= Self.interval else { return nil }
    return progress(at: now, isFinished: false)
  }

  /// The progress at the end of the body.
  mutating func finish(at now: Duration) -> TransferProgress { progress(at: now, isFinished: true) }

  private mutating func progress(at now: Duration, isFinished: Bool) -> TransferProgress {
    let (seconds, age) = ((now - told.time) / .seconds(1), (now - start) / .seconds(1))
    if age >= Self.interval / .seconds(1), seconds > 0 {
      // The mean from the start; later one whose weight falls with time, without a logarithm. What came at once says nothing.
      let present = Double(completed - told.completed) / seconds
      let mean = Double(completed) / age
      rate = age <= Self.window ? mean : rate.map { $0 + (present - $0) * seconds / (seconds + Self.window) } ?? mean
    }
    told = (now, completed)
    hasTold = true
    return TransferProgress(
      direction: direction, attempt: attempt, completed: completed, total: total, rate: rate, isFinished: isFinished)
  }
}
