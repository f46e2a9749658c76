public import ErrandFoundation

/// A task stored in an ``OfflineQueue``.
public struct QueuedTask: Codable, Sendable, Hashable, Identifiable {
  static let format = 1

  var format = Self.format
  /// The task's number in its queue. Later tasks have higher numbers.
  public let id: Int
  /// The name of the task's type.
  public let typeName: String
  /// The type's version when the task was stored.
  public let version: Int
  /// The task's key. Tasks with the same key are delivered in order.
  public let key: String
  /// The `Idempotency-Key` sent with every request for the task.
  public let idempotencyKey: String
  /// The time at which the task was stored.
  public let created: Date
  /// The time at which the task expires.
  public let expires: Date
  /// The task encoded as JSON.
  public let payload: String

  /// The name of the task's file. The names sort by number.
  var fileName: String { Self.fileName(id) }

  static func fileName(_ id: Int) -> String {
    let digits = String(id)
    return String(repeating: "0", count: max(0, 12 - digits.count)) + digits + ".task"
  }

  /// Returns the number in a file name, or `nil` if the file is not a task file.
  static func number(of fileName: String) -> Int? {
    guard fileName.hasSuffix(".task"), let number = Int(fileName.dropLast(5)), (1..<1 << 52).contains(number),
      Self.fileName(number) == fileName
    else { return nil }
    return number
  }
}
