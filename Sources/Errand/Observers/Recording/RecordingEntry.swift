package import ErrandFoundation

/// A line in the index of a recordings folder.
package struct RecordingEntry: Codable, Sendable, Equatable {
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
  /// The start time in ISO 8601, with milliseconds.
  var startedAt: String
  var seconds: Double
  var attempts: Int
  var bytes = 0
  /// Whether the file is about to be removed. `nil` means `false`.
  var isLeaving: Bool?

  package static let dateFormat = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

  /// Returns a copy of the entry with a number and a file name. File names begin with at least four digits, so that
  /// they sort by number.
  func numbered(_ number: Int, name: String, bytes: Int) -> RecordingEntry {
    var entry = self
    entry.number = number
    entry.file = Self.file(number, name: name)
    entry.bytes = bytes
    return entry
  }

  static func file(_ number: Int, name: String) -> String { file(number, plainName: plain(name)) }

  /// Returns the file name for a number and a name returned by `plain(_:)`.
  package static func file(_ number: Int, plainName: String) -> String { padded(number) + ". " + plainName + ".txt" }

  /// Removes all characters except letters, digits, spaces, hyphens and underscores from a name. Limits the name to 200
  /// bytes, because file names are limited to 255 bytes.
  package static func plain(_ name: String) -> String {
    if name.utf8.count <= 200, name.utf8.allSatisfy({ isPlainByte($0) }) { return name }
    var result = ""
    for character in name where character.isLetter || character.isNumber || " -_".contains(character) {
      guard result.utf8.count + String(character).utf8.count <= 200 else { break }
      result.append(character)
    }
    return result
  }

  private static func isPlainByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// Returns the number in a recording's file name, whether or not the recording is in the index. `nil` for other
  /// names.
  package static func number(of name: String) -> Int? {
    let digits = name.prefix { $0.isASCII && $0.isNumber }
    // No recording has a longer number. The limit also ensures that the next number can't overflow.
    guard digits.utf8.count <= 15 else { return nil }
    return name.dropFirst(digits.count).hasPrefix(". ") && name.hasSuffix(".txt") ? Int(digits) : nil
  }

  /// Whether to continue counting from a number found only in a file name. Another program may have created the file.
  /// The limit ensures that later numbers do not have more digits than ``number(of:)`` accepts.
  static func isPlausible(_ number: Int) -> Bool { number < 1_000_000_000_000 }

  /// Whether the entry is valid: its file has the same number and is directly in the folder.
  var isPlain: Bool {
    number > 0 && Self.number(of: file) == number && file.utf8.count <= 255 && (0..<1 << 40).contains(bytes)
      && !file.unicodeScalars.contains { $0 == "/" || $0 == "\\" || $0.value == 0 }
  }

  package static func padded(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}

extension RecordingEntry {
  init(_ call: RecordedCall) {
    self.init(
      task: call.task, tag: call.tag, comment: call.comment, method: "\(call.method)", url: call.url,
      status: call.status?.code, outcome: call.outcome.rawValue, startedAt: call.startedAt.formatted(Self.dateFormat),
      seconds: call.duration.inSeconds, attempts: call.attemptCount)
  }
}

extension RecordedCall {
  /// The call's file name without its number: the method, followed by the name of the task's type without the method as
  /// a prefix and `Task` as a suffix.
  package var fileName: String {
    // Fast path: most type names are ASCII.
    var name = task.utf8.allSatisfy(Self.isLetterOrDigit) ? task : task.filter { $0.isLetter || $0.isNumber }
    let verb = method.rawValue
    if name.count > verb.count, name.prefix(verb.count).lowercased() == verb.lowercased() {
      name.removeFirst(verb.count)
    }
    if name.hasSuffix("Task"), name.count > 4 { name.removeLast(4) }
    return verb + " " + name
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }
}
