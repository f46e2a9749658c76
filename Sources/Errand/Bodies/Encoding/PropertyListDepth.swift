import ErrandFoundation

/// The bounds of property lists: Foundation's parsers call themselves for each element within another, their stack ends somewhere above
/// 3,000, and a binary list may hold itself.
enum PropertyListDepth {
  /// As many as Foundation's own decoder of JSON takes.
  static let limit = 512

  /// False for bytes that begin as JSON does, and no list in XML.
  static func concerns(_ data: Data) -> Bool { data.first != UInt8(ascii: "{") && data.first != UInt8(ascii: "[") }

  /// Throws `DecodingError` for a list that is deeper, or that no parser can be given. Each byte is looked at once.
  static func check(_ data: Data) throws {
    if data.starts(with: Array("bplist".utf8)) {
      var list = BinaryPropertyList(data)
      return try list.check()
    }
    guard !data.contains(0), isReadable(data.prefix(200)) else {
      throw refusal("The property list is in an encoding that is not read.")
    }
    var (depth, rest) = (0, data[...])
    while let element = try next(in: &rest, isInside: depth > 0) {
      depth = max(0, depth + element)
      if depth > limit { throw tooDeep }
    }
  }

  static var tooDeep: DecodingError { refusal("The property list has more than \(limit) levels.") }

  static func refusal(_ reason: String) -> DecodingError {
    .dataCorrupted(.init(codingPath: [], debugDescription: reason))
  }

  /// The levels that the next tag adds: one, none or less than none; nil where there is no further tag.
  private static func next(in rest: inout Data.SubSequence, isInside: Bool) throws -> Int? {
    guard let bracket = rest.firstIndex(of: UInt8(ascii: "<")) else { return nil }
    rest = rest[(bracket + 1)...]
    for (start, end) in [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>")] where rest.starts(with: start.utf8) {
      rest = rest[rest.index(rest.startIndex, offsetBy: start.utf8.count)...]
      rest = rest.firstRange(of: Array(end.utf8)).map { rest[$0.upperBound...] } ?? rest[rest.endIndex...]
      return 0
    }
    switch rest.first {
    case UInt8(ascii: "!") where !isInside: return 0  // of a document type
    case UInt8(ascii: "!"): throw refusal("The given data was not a valid property list.")
    case UInt8(ascii: "/"): return -1
    default:
      guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return nil }  // nothing is read behind such a tag
      defer { rest = rest[(end + 1)...] }
      return end > rest.startIndex && rest[end - 1] == UInt8(ascii: "/") ? 0 : 1
    }
  }

  /// True where a declared encoding has tags in ASCII.
  private static func isReadable(_ head: Data) -> Bool {
    let words = String(decoding: head, as: UTF8.self).lowercased()
    let declaration = words[..<(words.firstRange(of: "?>")?.lowerBound ?? words.endIndex)]
    guard declaration.contains("<?xml"), let start = declaration.firstRange(of: "encoding")?.upperBound else {
      return true
    }
    let name = declaration[start...].drop { "=\"' \t\r\n".contains($0) }.prefix { !"\"' ?>".contains($0) }
    return ["utf-8", "us-ascii", "ascii", "iso-8859-1", "iso-8859-15", "windows-1252"].contains(String(name))
  }
}
