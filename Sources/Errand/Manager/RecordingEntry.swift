import Foundation

/// One line of the index of a folder of recordings.
struct RecordingEntry: Codable, Sendable, Equatable {
  var number = 0
  var file = ""
  var task: String
  var tag: String?
  var comment: String?
  var method: String
  var url: String?
  var status: Int?
  /// `succeeded`, `failed` or `cancelled`.
  var outcome: String
  /// In ISO 8601 with milliseconds.
  var startedAt: String
  var seconds: Double
  var attempts: Int
  /// The size of the file.
  var bytes = 0

  static let dateFormat = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

  /// The entry of a file of this number; at least four digits, so that names sort as numbers do.
  func numbered(_ number: Int, name: String, bytes: Int) -> RecordingEntry {
    var entry = self
    entry.number = number
    entry.file = "\(Self.padded(number)). \(name).txt"
    entry.bytes = bytes
    return entry
  }

  static func padded(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
