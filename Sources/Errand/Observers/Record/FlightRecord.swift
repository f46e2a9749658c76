/// The history of a call, available from every response and every error. Print it, or print its ``summary``, which
/// includes a diagnosis.
///
///     GET https://api.example.com/widgets/7
///       0.000 s  call started
///       0.000 s  attempt 1 started
///       0.021 s  503 Service Unavailable
///       …
public struct FlightRecord: Sendable, CustomStringConvertible {
  /// A moment and the time at which it happened.
  public struct Entry: Sendable {
    /// The time since the call started.
    public let time: Duration
    /// The moment that is recorded.
    public let moment: CallMoment

    package init(time: Duration, moment: CallMoment) {
      self.time = time
      self.moment = moment
    }
  }

  /// The method and URL, with secrets hidden. Empty if the call failed before its request was created.
  public package(set) var title: String
  /// The recorded entries, in chronological order.
  public package(set) var entries: [Entry]

  package var streamedBytes = 0
  /// The failure's cause. `nil` if the call did not fail, or the cause is unknown.
  package var cause: Diagnosis.Cause?

  package init(title: String = "", entries: [Entry] = []) {
    self.title = title
    self.entries = entries
  }

  package var tally: (retries: Int, bytesReceived: Int) {
    entries.reduce(into: (0, streamedBytes)) { tally, entry in
      switch entry.moment {
      case .bodyReceived(let bytes): tally.1 += bytes
      case .attemptStarted(let number) where number > 1: tally.0 += 1
      default: break
      }
    }
  }

  /// The attempts, in order, each with the delay that followed it.
  public var attempts: [AttemptRecord] {
    var attempts: [AttemptRecord] = []
    for entry in entries {
      switch entry.moment {
      case .attemptEnded(_, let record): attempts.append(record)
      case .delayStarted(let delay, _) where !attempts.isEmpty: attempts[attempts.count - 1].delay = delay
      default: break
      }
    }
    return attempts
  }

  /// Returns the moments between this call's start and end, for the record of another call. `start` is the time of this
  /// call's start in the other call. No moment is earlier than `first`.
  func inner(since start: Duration, notBefore first: Duration) -> [Entry] {
    entries.compactMap { entry in
      switch entry.moment {
      case .callStarted, .callEnded: nil
      default: Entry(time: max(first, start + entry.time), moment: entry.moment)
      }
    }
  }

  /// Inserts the moments of each shared call after the moment at which this call joined it.
  mutating func insert(_ shared: [[Entry]]) {
    var left = shared[...]
    entries = entries.flatMap { entry in
      if case .joined = entry.moment, let others = left.popFirst() { [entry] + others } else { [entry] }
    }
  }

  /// The title, followed by one line per moment.
  public var description: String {
    ([title] + entries.map { "  \($0.time.formattedSeconds)  \($0.moment)" }).joined(separator: "\n")
  }
}

/// The record of one attempt.
public struct AttemptRecord: Encodable, Sendable {
  /// The attempt's number, starting at 1.
  public let number: Int
  /// The attempt's duration, not including the wait for its slot.
  public var duration: Duration = .zero
  /// The time spent waiting for a slot.
  public var queued: Duration = .zero
  /// The status, if a response arrived.
  public var status: HTTPStatus?
  /// The failure on one line, with secrets hidden. `nil` if the attempt did not fail.
  public var failure: String?
  /// A stable name for the failure, suitable for metrics: its ``TaskError/Code``, or the type of another error. `nil`
  /// if the attempt did not fail.
  public var errorType: String?
  /// The HTTP version of the response, if one arrived.
  public var version: HTTPVersion?
  /// The timings of the transfer, if measured.
  public var timings: TransferTimings?
  /// The delay before the next attempt. `nil` if the call did not wait.
  public var delay: Duration?

  package init(number: Int) { self.number = number }

  /// Whether the request was resent because its pooled connection was stale, or the server refused it without
  /// processing it.
  public var wasResent: Bool { timings?.wasResent ?? false }

  /// The failure, or the status if the attempt did not fail.
  public var outcome: String { failure ?? status?.description ?? "no response" }
}

extension FlightRecord {
  /// The duration and the number of attempts so far, as reported by responses and errors.
  public var metrics: TaskMetrics {
    let attempts = attempts
    var metrics = TaskMetrics()
    metrics.elapsed = entries.last?.time ?? .zero
    metrics.attemptCount = attempts.count
    metrics.queued = attempts.reduce(.zero) { $0 + $1.queued }
    metrics.timings = attempts.last?.timings
    return metrics
  }
}

/// A call's duration and number of attempts.
public struct TaskMetrics: Sendable {
  /// The time from the start of the call to its end, including waits and retries.
  public var elapsed: Duration = .zero
  /// The time spent waiting for slots.
  public var queued: Duration = .zero
  /// The number of attempts. 0 if no request was needed.
  public var attemptCount = 0
  /// The timings of the last transfer, if measured.
  public var timings: TransferTimings?

  package init() {}
}
