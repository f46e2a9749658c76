public import ErrandFoundation

/// A task in an ``OfflineQueue``, as it is kept.
public struct QueuedTask: Codable, Sendable, Hashable, Identifiable {
  static let format = 1

  var format = Self.format
  /// The number of the task in its queue: later ones have larger ones.
  public let id: Int
  /// The name of its type.
  public let typeName: String
  /// The version of its type when it was kept.
  public let version: Int
  /// The line that it stands in: tasks of one key are delivered in order.
  public let key: String
  /// The `Idempotency-Key` that every request for it has.
  public let idempotencyKey: String
  /// The moment in which it was kept.
  public let created: Date
  /// The moment from which it is not delivered any more.
  public let expires: Date
  /// The task as JSON.
  public let payload: String

  /// The name of its file: in the order of the numbers.
  var fileName: String { Self.fileName(id) }

  static func fileName(_ id: Int) -> String {
    let digits = String(id)
    return String(repeating: "0", count: max(0, 12 - digits.count)) + digits + ".task"
  }

  /// The number in the name of a file; nil for the file of something else.
  static func number(of fileName: String) -> Int? {
    guard fileName.hasSuffix(".task"), let number = Int(fileName.dropLast(5)), (1..<1 << 52).contains(number),
      Self.fileName(number) == fileName
    else { return nil }
    return number
  }
}
