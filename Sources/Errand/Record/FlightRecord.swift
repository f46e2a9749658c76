/// The history of a call, moment by moment; every response and every error carries one. Print it, or its ``summary`` with a diagnosis.
///
///     GET https://api.example.com/widgets/7
///       0.000 s  call started
///       0.000 s  attempt 1 started
///       0.021 s  503 Service Unavailable
///       …
public struct FlightRecord: Sendable, CustomStringConvertible {
  /// A moment and when it was, counted from the start of the call.
  public struct Entry: Sendable {
    /// The time since the call started.
    public let time: Duration
    /// The event.
    public let moment: CallMoment
  }

  /// Method and URL, secrets hidden; empty when the call failed before there was a request.
  public package(set) var title: String
  /// The moments in order.
  public package(set) var entries: [Entry]

  /// The bytes of a body that was read as it came.
  package var streamedBytes = 0
  /// The cause of the failure; nil where there was none, or it is not known.
  package var cause: Diagnosis.Cause?

  package init(title: String = "", entries: [Entry] = []) {
    self.title = title
    self.entries = entries
  }

  /// The number of attempts after the first, and the bytes of bodies that came, as far as noted.
  package var tally: (retries: Int, bytesReceived: Int) {
    entries.reduce(into: (0, streamedBytes)) { tally, entry in
      switch entry.moment {
      case .bodyReceived(let bytes): tally.1 += bytes
      case .attemptStarted(let number) where number > 1: tally.0 += 1
      default: break
      }
    }
  }

  /// The attempts, in order, each with the delay after it.
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

  /// The moments between the start and the end of a call that began at `start` by another's clock, none before `first`.
  func inner(since start: Duration, notBefore first: Duration) -> [Entry] {
    entries.compactMap { entry in
      switch entry.moment {
      case .callStarted, .callEnded: nil
      default: Entry(time: max(first, start + entry.time), moment: entry.moment)
      }
    }
  }

  /// Adds what other calls did that sent the same request for this one, each behind the moment at which this one joined it.
  mutating func insert(_ shared: [[Entry]]) {
    var left = shared[...]
    entries = entries.flatMap { entry in
      if case .joined = entry.moment, let others = left.popFirst() { [entry] + others } else { [entry] }
    }
  }

  /// The title, then one line a moment.
  public var description: String {
    ([title] + entries.map { "  \($0.time.formattedSeconds)  \($0.moment)" }).joined(separator: "\n")
  }
}

/// The record of one attempt of a call.
public struct AttemptRecord: Encodable, Sendable {
  /// The number of the attempt; the first is 1.
  public let number: Int
  /// The time it took, from the moment it had its slot.
  public var duration: Duration = .zero
  /// The time it waited for its slot.
  public var queued: Duration = .zero
  /// The status, if a response came.
  public var status: HTTPStatus?
  /// The failure in one line, secrets hidden; nil when there was none.
  public var failure: String?
  /// The fixed name of the failure, fit for metrics: that of its ``TaskError/Code``, or of another error's type; nil when there was
  /// none.
  public var errorType: String?
  /// The version of HTTP that carried the response, if one came.
  public var version: HTTPVersion?
  /// The timings of the transfer, where it was measured.
  public var timings: TransferTimings?
  /// The time the call waited before the next attempt; nil when there was none.
  public var delay: Duration?

  package init(number: Int) { self.number = number }

  /// Whether the request was resent: its pooled connection was stale, or the server refused it without processing it.
  public var wasResent: Bool { timings?.wasResent ?? false }

  /// The status or the failure, in words.
  public var outcome: String { failure ?? status?.description ?? "no response" }
}

extension FlightRecord {
  /// The time and attempts that the call took so far; what a response and an error have as their metrics.
  public var metrics: TaskMetrics {
    let attempts = attempts
    var metrics = TaskMetrics()
    metrics.elapsed = entries.last?.time ?? .zero
    metrics.attempts = attempts.count
    metrics.queued = attempts.reduce(.zero) { $0 + $1.queued }
    metrics.timings = attempts.last?.timings
    return metrics
  }
}

/// The time and attempts that a call took.
public struct TaskMetrics: Sendable {
  /// From the start of the call to its end, waiting and retries included.
  public var elapsed: Duration = .zero
  /// The time spent waiting for slots.
  public var queued: Duration = .zero
  /// The number of attempts; 0 when none was needed.
  public var attempts = 0
  /// The timings of the last transfer, where it was measured.
  public var timings: TransferTimings?

  package init() {}
}
