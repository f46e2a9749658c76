import ErrandFoundation

/// Collects a manager's statistics, with one entry per task type and per name.
final class StatisticsStore: Sendable {
  private struct Entry {
    let type: Any.Type
    var statistics: TaskStatistics
  }

  private let entries = Lock<[ManagerStatistics.Key: Entry]>([:])
  /// The maximum number of entries. Beyond it, calls with new names are counted under their type, because an app may
  /// generate names.
  static let most = 1000

  /// Records a call. For an internal call, only its retries and bytes are added.
  func note(_ outcome: CallOutcome, _ record: FlightRecord, bytesSent: Int, of plan: TaskPlan) {
    let (type, name, now) = (Swift.type(of: plan.task), plan.name, Date())
    entries.withLock { entries in
      var key = ManagerStatistics.Key(type: ObjectIdentifier(type), name: name)
      if name != nil, entries.count >= Self.most, entries[key] == nil { key.name = nil }
      // The entry stores the type because computing its name costs more than recording a call.
      entries[key, default: Entry(type: type, statistics: TaskStatistics())]
        .statistics.add(plan.isInternal ? nil : outcome, record, bytesSent: bytesSent, at: now)
    }
  }

  func reset() { entries.withLock { $0 = [:] } }

  var statistics: ManagerStatistics {
    var tasks: [ManagerStatistics.Key: TaskStatistics] = [:]
    for (key, entry) in entries.withLock({ $0 }) {
      tasks[key] = entry.statistics
      tasks[key]?.task = key.name ?? "\(entry.type)"
    }
    return ManagerStatistics(tasks: tasks)
  }
}

extension TaskStatistics {
  fileprivate mutating func add(_ outcome: CallOutcome?, _ record: FlightRecord, bytesSent: Int, at now: Date) {
    let tally = record.tally
    retries += tally.retries
    bytesReceived += tally.bytesReceived
    self.bytesSent += bytesSent
    guard let outcome else { return }
    count += 1
    switch outcome {
    case .succeeded: break
    case .failed: failures += 1
    case .cancelled: cancellations += 1
    }
    lastDuration = record.entries.last?.time ?? .zero
    duration += lastDuration
    lastRun = now
  }
}
