public import ErrandFoundation

/// The statistics for one task type, or for calls with the same name.
public struct TaskStatistics: Sendable, CustomStringConvertible {
  /// The name of the task's type, or the name set with ``ServerTask/named(_:)``.
  public internal(set) var task = ""
  /// The number of calls that have ended.
  public internal(set) var count = 0
  /// The number of calls that threw an error.
  public internal(set) var failures = 0
  /// The number of calls that were cancelled.
  public internal(set) var cancellations = 0
  /// The number of attempts in addition to each call's first.
  public internal(set) var retries = 0
  /// The number of decompressed body bytes received. Excludes interrupted attempts.
  public internal(set) var bytesReceived = 0
  /// The total size of the request bodies of all attempts. Excludes bodies of unknown size.
  public internal(set) var bytesSent = 0
  /// The total duration of the calls.
  public internal(set) var duration: Duration = .zero
  /// The duration of the last call.
  public internal(set) var lastDuration: Duration = .zero
  /// The time at which the last call ended.
  public internal(set) var lastRun = Date.distantPast

  /// The number of calls that succeeded.
  public var successes: Int { count - failures - cancellations }

  /// The number of body bytes received and sent.
  public var bytes: Int { bytesReceived + bytesSent }

  mutating func add(_ other: TaskStatistics) {
    count += other.count
    failures += other.failures
    cancellations += other.cancellations
    retries += other.retries
    bytesReceived += other.bytesReceived
    bytesSent += other.bytesSent
    duration += other.duration
    if other.lastRun > lastRun { (lastRun, lastDuration) = (other.lastRun, other.lastDuration) }
  }

  /// The name, calls, failures, bytes and duration, on one line.
  public var description: String {
    "\(task): \(count) calls, \(failures) failed, \(cancellations) cancelled, \(retries) retries, "
      + "\(bytesReceived) bytes down, \(bytesSent) up, \(duration.formattedSeconds)"
  }
}

/// A snapshot of a manager's statistics, by task type or name.
public struct ManagerStatistics: Sendable, CustomStringConvertible {
  /// The order of the entries.
  public enum Order: Sendable, Hashable, CaseIterable {
    /// By name, ascending.
    case name
    /// By the number of calls, highest first.
    case count
    /// By the number of bytes received and sent, highest first.
    case bytes
    /// By the last run, latest first.
    case recent
  }

  struct Key: Hashable {
    let type: ObjectIdentifier
    var name: String?
  }

  let tasks: [Key: TaskStatistics]

  /// The statistics for a task type, excluding its named calls. `nil` if none of its calls has ended.
  public subscript<Described: ServerTask>(type: Described.Type) -> TaskStatistics? {
    tasks[Key(type: ObjectIdentifier(type))]
  }

  /// The statistics for calls of the task type or ``ServerTask/named(_:)`` with this name, as printed. `nil` if no such
  /// call has ended.
  public subscript(name: String) -> TaskStatistics? {
    let named = tasks.values.filter { $0.task == name }
    guard var sum = named.first else { return nil }
    for statistics in named.dropFirst() { sum.add(statistics) }
    return sum
  }

  /// Returns all entries in the given order. Entries with equal values are sorted by name.
  public func sorted(by order: Order = .name) -> [TaskStatistics] {
    tasks.values.sorted { left, right in
      switch order {
      case .count where left.count != right.count: left.count > right.count
      case .bytes where left.bytes != right.bytes: left.bytes > right.bytes
      case .recent where left.lastRun != right.lastRun: left.lastRun > right.lastRun
      default: left.task < right.task
      }
    }
  }

  /// The number of calls that have ended.
  public var count: Int { tasks.values.reduce(0) { $0 + $1.count } }

  /// The entries sorted by name, one per line.
  public var description: String { sorted().map(\.description).joined(separator: "\n") }
}
