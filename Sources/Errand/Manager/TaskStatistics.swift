public import ErrandFoundation

/// The statistics of the calls of one type of task, or under one name.
public struct TaskStatistics: Sendable, CustomStringConvertible {
  /// The name of the task's type, or that it was given.
  public internal(set) var task = ""
  /// The number of calls that have ended.
  public internal(set) var count = 0
  /// The number of calls that threw an error.
  public internal(set) var failures = 0
  /// The number of calls that were cancelled.
  public internal(set) var cancellations = 0
  /// The number of attempts after a first one.
  public internal(set) var retries = 0
  /// Bytes of bodies received, as far as known: decoded, and without those of attempts that broke off.
  public internal(set) var bytesReceived = 0
  /// Bytes of bodies to be sent, as far as known, each attempt counted.
  public internal(set) var bytesSent = 0
  /// The total duration of the calls.
  public internal(set) var duration: Duration = .zero
  /// The duration of the last call.
  public internal(set) var lastDuration: Duration = .zero
  /// The time at which the last call ended.
  public internal(set) var lastRun = Date.distantPast

  /// The number of calls that gave their result.
  public var successes: Int { count - failures - cancellations }

  /// Bytes down and up.
  public var bytes: Int { bytesReceived + bytesSent }

  /// Adds the calls of others.
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

  /// One line: name, calls, failures, bytes and time.
  public var description: String {
    "\(task): \(count) calls, \(failures) failed, \(cancellations) cancelled, \(retries) retries, "
      + "\(bytesReceived) bytes down, \(bytesSent) up, \(duration.formattedSeconds)"
  }
}

/// The statistics of a manager's calls, by the type of their task or the name that it was given; a copy, as it was when read.
public struct ManagerStatistics: Sendable, CustomStringConvertible {
  /// An order of the types.
  public enum Order: Sendable, Hashable, CaseIterable {
    /// By name, A first.
    case name
    /// By the number of calls, most first.
    case count
    /// By the bytes down and up, most first.
    case bytes
    /// By the last run, latest first.
    case recent
  }

  struct Key: Hashable {
    let type: ObjectIdentifier
    var name: String?
  }

  let tasks: [Key: TaskStatistics]

  /// The statistics of this type, but for calls under a name of their own; nil when none of its calls has ended.
  public subscript<Described: ServerTask>(type: Described.Type) -> TaskStatistics? {
    tasks[Key(type: ObjectIdentifier(type))]
  }

  /// The statistics of the calls under this name; nil when none has ended. See ``ServerTask/named(_:)``.
  public subscript(name: String) -> TaskStatistics? {
    let named = tasks.filter { $0.key.name == name }.values
    guard var sum = named.first else { return nil }
    for statistics in named.dropFirst() { sum.add(statistics) }
    return sum
  }

  /// All types in an order, ties by name.
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

  /// One line a type, by name.
  public var description: String { sorted().map(\.description).joined(separator: "\n") }
}
