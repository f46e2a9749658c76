import ErrandFoundation

/// The bounds of property lists: Foundation's parsers call themselves for each list within another, their stack ends somewhere above
/// 3,000, and a binary list may hold itself.
enum PropertyListDepth {
  /// As many as Foundation's own decoder of JSON takes.
  static let limit = 512

  /// False for bytes that begin as JSON does, and no list in XML.
  static func concerns(_ data: Data) -> Bool { data.first != UInt8(ascii: "{") && data.first != UInt8(ascii: "[") }

  /// Throws `DecodingError` for a list that is deeper, or that no parser can be given. Each byte is looked at a few times.
  static func check(_ data: Data) throws {
    if data.starts(with: Array("bplist".utf8)) {
      return try data.withUnsafeBytes { bytes in
        var list = BinaryPropertyList(bytes)
        try list.check()
      }
    }
    guard !data.contains(0), isReadable(data.prefix(200)) else {
      throw refusal("The property list is in an encoding that is not read.")
    }
    var scan = PropertyListScan(data)
    while scan.next() { if scan.depth > limit + 1 { throw tooDeep } }  // the outermost is no level of a list's own
  }

  static var tooDeep: DecodingError { refusal("The property list has more than \(limit) levels.") }

  static func refusal(_ reason: String) -> DecodingError {
    .dataCorrupted(.init(codingPath: [], debugDescription: reason))
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

/// Counts the levels of a list in XML, and rather too many than too few: parsers differ on where comments and instructions end. A list
/// that begins counts wherever it stands, one that ends only outside of these.
private struct PropertyListScan {
  private(set) var depth = 0
  private var rest: Data.SubSequence
  /// What ends the comment, the text or the instruction around `rest`.
  private var end: [UInt8]?

  init(_ data: Data) { rest = data[...] }

  private static let lists = ["array", "dict", "plist"].map { Array($0.utf8) }
  private static let passages = [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>")].map {
    (Array($0.utf8), Array($1.utf8))
  }

  /// Past the next tag; false where there is none.
  mutating func next() -> Bool {
    guard let bracket = rest.firstIndex(where: { $0 == UInt8(ascii: "<") || end?.last == $0 }) else { return false }
    if let end, rest[bracket] == end.last {
      if rest[...bracket].suffix(end.count).elementsEqual(end) { self.end = nil }
      rest = rest[(bracket + 1)...]
      return true
    }
    rest = rest[(bracket + 1)...]
    let isInside = end != nil
    if !isInside, let passage = Self.passages.first(where: { rest.starts(with: $0.0) }) {
      end = passage.1
      rest = rest.dropFirst(passage.0.count)
      return true
    }
    if Self.lists.contains(where: { rest.starts(with: $0) }) {
      depth += 1
      if isInside { return true }
      // Nothing is read behind a tag without an end.
      guard let close = rest.firstIndex(of: UInt8(ascii: ">")) else { return false }
      if rest[close - 1] == UInt8(ascii: "/") { depth -= 1 }
      rest = rest[(close + 1)...]
    } else if !isInside, rest.first == UInt8(ascii: "/"),
      Self.lists.contains(where: { rest.dropFirst().starts(with: $0) })
    {
      depth = max(0, depth - 1)
    }
    return true
  }
}
