import ErrandFoundation

/// Counts the calls of a manager: one entry a type of task, however many calls there are.
final class StatisticsDesk: Sendable {
  private struct Entry {
    let type: Any.Type
    var statistics: TaskStatistics
  }

  private let entries = Lock<[ObjectIdentifier: Entry]>([:])

  /// Counts a call.
  func note(_ outcome: CallOutcome, _ record: FlightRecord, bytesSent: Int, of type: Any.Type) {
    let now = Date()
    entries.withLock { entries in
      // The name is made on demand: it costs more than all of this.
      entries[ObjectIdentifier(type), default: Entry(type: type, statistics: TaskStatistics())]
        .statistics.add(outcome, record, bytesSent: bytesSent, at: now)
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
  fileprivate mutating func add(_ outcome: CallOutcome, _ record: FlightRecord, bytesSent: Int, at now: Date) {
    count += 1
    switch outcome {
    case .succeeded: break
    case .failed: failures += 1
    case .cancelled: cancellations += 1
    }
    retries += record.retries
    bytesReceived += record.bytesReceived
    self.bytesSent += bytesSent
    lastDuration = record.entries.last?.time ?? .zero
    duration += lastDuration
    lastRun = now
  }
}
