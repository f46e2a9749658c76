import Foundation

/// Counts the calls of a manager: one entry a type of task, however many calls there are.
final class StatisticsBoard: Sendable {
  /// One call that has ended.
  struct Run {
    let outcome: CallOutcome
    let retries: Int
    let bytesReceived: Int
    let bytesSent: Int
    let duration: Duration
  }

  private struct Entry {
    let type: Any.Type
    var statistics: TaskStatistics
  }

  private let entries = Lock<[ObjectIdentifier: Entry]>([:])

  func note(_ run: Run, of type: Any.Type) {
    let now = Date()
    entries.withLock { entries in
      // The name is made when somebody asks for it: it costs more than all of this.
      entries[ObjectIdentifier(type), default: Entry(type: type, statistics: TaskStatistics())]
        .statistics.add(run, at: now)
    }
  }

  func reset() { entries.withLock { $0 = [:] } }

  var statistics: ManagerStatistics {
    let types = entries.withLock { $0 }.mapValues { entry in
      var statistics = entry.statistics
      statistics.task = "\(entry.type)"
      return statistics
    }
    return ManagerStatistics(types: types)
  }
}

extension TaskStatistics {
  fileprivate mutating func add(_ run: StatisticsBoard.Run, at now: Date) {
    count += 1
    switch run.outcome {
    case .succeeded: break
    case .failed: failures += 1
    case .cancelled: cancellations += 1
    }
    retries += run.retries
    bytesReceived += run.bytesReceived
    bytesSent += run.bytesSent
    duration += run.duration
    lastDuration = run.duration
    lastRun = now
  }
}
