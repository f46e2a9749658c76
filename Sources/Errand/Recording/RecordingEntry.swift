import ErrandFoundation

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
  /// Whether the file is about to be removed; nil if it isn't.
  var isLeaving: Bool?

  static let dateFormat = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

  /// The entry of a file of this number; at least four digits, so that names sort as numbers do.
  func numbered(_ number: Int, name: String, bytes: Int) -> RecordingEntry {
    var entry = self
    entry.number = number
    entry.file = Self.file(number, name: name)
    entry.bytes = bytes
    return entry
  }

  /// The name of a file.
  static func file(_ number: Int, name: String) -> String { file(number, plainName: plain(name)) }

  /// The same for a name that was made plain.
  static func file(_ number: Int, plainName: String) -> String { padded(number) + ". " + plainName + ".txt" }

  /// A name as a part of a file's: letters, digits, blanks, hyphens and underscores, cut to fit into the 255 bytes that a
  /// file's name may have.
  static func plain(_ name: String) -> String {
    if name.utf8.count <= 200, name.utf8.allSatisfy({ isPlainByte($0) }) { return name }
    var result = ""
    for character in name where character.isLetter || character.isNumber || " -_".contains(character) {
      guard result.utf8.count + String(character).utf8.count <= 200 else { break }
      result.append(character)
    }
    return result
  }

  /// True for the letters, digits and signs of ASCII that a name keeps.
  private static func isPlainByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// The number of a recording by the name of its file, whether or not we know it; nil for any other name.
  static func number(of name: String) -> Int? {
    let digits = name.prefix { $0.isASCII && $0.isNumber }
    // Of that many digits we have never written one, and a next number must be left.
    guard digits.utf8.count <= 15 else { return nil }
    return name.dropFirst(digits.count).hasPrefix(". ") && name.hasSuffix(".txt") ? Int(digits) : nil
  }

  /// True for a number that we count on from where only the name of a file says it. Others may have put it there, and so much
  /// room is left that no number of ours has more digits than ``number(of:)`` takes.
  static func isPlausible(_ number: Int) -> Bool { number < 1_000_000_000_000 }

  /// True for an entry that we may have written: its file has its number, and is in the folder itself.
  var isPlain: Bool {
    number > 0 && Self.number(of: file) == number && file.utf8.count <= 255 && (0..<1 << 40).contains(bytes)
      && !file.unicodeScalars.contains { $0 == "/" || $0 == "\\" || $0.value == 0 }
  }

  static func padded(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}

extension RecordingEntry {
  /// The line of the index for a call: no more than the recording itself shows.
  init(_ call: RecordedCall) {
    self.init(
      task: call.task, tag: call.tag, comment: call.comment, method: "\(call.method)", url: call.url,
      status: call.status?.code, outcome: call.outcome.rawValue, startedAt: call.startedAt.formatted(Self.dateFormat),
      seconds: call.duration.inSeconds, attempts: call.attempts)
  }
}

extension RecordedCall {
  /// The name of the call's file, but for its number: the method and the type's name without it and without `Task`.
  var fileName: String {
    // A name of a type is mostly of ASCII, where letters and digits need not be asked for.
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
