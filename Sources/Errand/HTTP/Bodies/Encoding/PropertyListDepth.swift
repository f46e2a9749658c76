import ErrandFoundation

/// Limits for property lists. Foundation's parsers are recursive and overflow the stack at about 3,000 levels, and a
/// binary property list can contain itself.
enum PropertyListDepth {
  /// The limit of Foundation's JSON decoder.
  static let limit = 512

  /// Whether the data could be a property list. `false` if it begins like JSON.
  static func concerns(_ data: Data) -> Bool { data.first != UInt8(ascii: "{") && data.first != UInt8(ascii: "[") }

  /// Throws `DecodingError` if the property list is nested too deeply or has an unsupported encoding. Runs in linear
  /// time.
  static func check(_ data: Data) throws {
    if data.starts(with: Array("bplist".utf8)) {
      return try data.withUnsafeBytes { bytes in
        var list = BinaryPropertyList(bytes)
        try list.check()
      }
    }
    guard !data.contains(0), isReadable(data.prefix(200)) else {
      throw refusal("The property list has an unsupported encoding.")
    }
    var scan = PropertyListScan(data)
    while scan.next() { if scan.depth > limit + 1 { throw tooDeep } }  // +1 for the <plist> element
  }

  static var tooDeep: DecodingError { refusal("The property list has more than \(limit) levels.") }

  static func refusal(_ reason: String) -> DecodingError {
    .dataCorrupted(.init(codingPath: [], debugDescription: reason))
  }

  /// Whether tags are ASCII in the declared encoding.
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

/// Counts the levels of an XML property list. Parsers disagree on where comments end, so the count may be too high:
/// opening tags count everywhere, but closing tags only outside comments, CDATA sections and processing instructions.
private struct PropertyListScan {
  private(set) var depth = 0
  private var rest: Data.SubSequence
  /// The end marker of the comment, CDATA section or processing instruction that `rest` is in.
  private var end: [UInt8]?

  init(_ data: Data) { rest = data[...] }

  private static let lists = ["array", "dict", "plist"].map { Array($0.utf8) }
  private static let passages = [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>")].map {
    (Array($0.utf8), Array($1.utf8))
  }

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
      // Parsers stop at an unclosed tag.
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
