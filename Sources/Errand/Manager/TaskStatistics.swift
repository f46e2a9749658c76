public import Foundation

/// What the calls of one type of task came to.
public struct TaskStatistics: Sendable, CustomStringConvertible {
  /// The name of the task's type.
  public internal(set) var task = ""
  /// How many calls have ended.
  public internal(set) var count = 0
  /// How many of them threw an error.
  public internal(set) var failures = 0
  /// How many of them were cancelled.
  public internal(set) var cancellations = 0
  /// How many attempts were made after a first one.
  public internal(set) var retries = 0
  /// Bytes of bodies that came down, as far as known: decoded, and without those of attempts that broke off.
  public internal(set) var bytesReceived = 0
  /// Bytes of bodies that were to go up, as far as known, each attempt counted.
  public internal(set) var bytesSent = 0
  /// How long they took together.
  public internal(set) var duration: Duration = .zero
  /// How long the last one took.
  public internal(set) var lastDuration: Duration = .zero
  /// When the last one ended.
  public internal(set) var lastRun = Date.distantPast

  /// How many gave their result.
  public var successes: Int { count - failures - cancellations }

  /// Bytes down and up.
  public var bytes: Int { bytesReceived + bytesSent }

  /// One line: name, calls, failures, bytes and time.
  public var description: String {
    "\(task): \(count) calls, \(failures) failed, \(cancellations) cancelled, \(retries) retries, "
      + "\(bytesReceived) bytes down, \(bytesSent) up, \(duration.formattedSeconds)"
  }
}

/// What the calls of a manager came to, by the type of their task; a copy, as it was when asked for.
public struct ManagerStatistics: Sendable, CustomStringConvertible {
  /// How to order it.
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

  let types: [ObjectIdentifier: TaskStatistics]

  /// What calls of this type came to; nil when none has ended.
  public subscript<Described: ServerTask>(type: Described.Type) -> TaskStatistics? { types[ObjectIdentifier(type)] }

  /// All types in an order; those that are equal in it by name.
  public func sorted(by order: Order = .name) -> [TaskStatistics] {
    types.values.sorted { left, right in
      switch order {
      case .count where left.count != right.count: left.count > right.count
      case .bytes where left.bytes != right.bytes: left.bytes > right.bytes
      case .recent where left.lastRun != right.lastRun: left.lastRun > right.lastRun
      default: left.task < right.task
      }
    }
  }

  /// How many calls have ended.
  public var count: Int { types.values.reduce(0) { $0 + $1.count } }

  /// One line a type, by name.
  public var description: String { sorted().map(\.description).joined(separator: "\n") }
}
