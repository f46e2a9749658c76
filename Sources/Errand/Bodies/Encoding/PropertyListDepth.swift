import ErrandFoundation

/// The bound for property lists in each other: Foundation's parser calls itself for each, and its stack ends somewhere above 3,000.
enum PropertyListDepth {
  /// As many as Foundation's own decoder of JSON takes.
  static let limit = 512

  /// False for bytes that begin as JSON does, and no list in XML.
  static func concerns(_ data: Data) -> Bool { data.first != UInt8(ascii: "{") && data.first != UInt8(ascii: "[") }

  /// Throws `DecodingError` for a list in XML that is deeper. Each byte is looked at once.
  static func check(_ data: Data) throws {
    guard !data.starts(with: Array("bplist".utf8)) else { return }
    var depth = 0
    var rest = data[...]
    while let bracket = rest.firstIndex(of: UInt8(ascii: "<")) {
      rest = rest[(bracket + 1)...]
      if opens(rest) { depth += 1 }
      if rest.starts(with: Array("/dict".utf8)) || rest.starts(with: Array("/array".utf8)) { depth -= 1 }
      guard depth <= limit else {
        throw DecodingError.dataCorrupted(
          .init(codingPath: [], debugDescription: "The property list has more than \(limit) levels."))
      }
    }
  }

  private static func opens(_ tag: Data.SubSequence) -> Bool {
    guard tag.starts(with: Array("dict".utf8)) || tag.starts(with: Array("array".utf8)) else { return false }
    return tag.firstIndex(of: UInt8(ascii: ">")).map { tag[$0 - 1] != UInt8(ascii: "/") } ?? true
  }
}
