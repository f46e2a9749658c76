/// What the tracing systems on a trace's way have noted, each under a key of its own: the value of `tracestate` (W3C Trace Context
/// §3.3).
public struct TraceState: Sendable, Hashable, CustomStringConvertible {
  /// A key and its value.
  public struct Member: Sendable, Hashable {
    /// The system that noted it.
    public let key: String
    /// What it noted.
    public let value: String
  }

  /// The members, the latest first; 32 at most.
  public private(set) var members: [Member] = []

  /// The most members.
  private static let most = 32

  /// None.
  public init() {}

  /// The members of a header's fields, in order; nil where one of them is malformed, comes twice, or is one too many (§3.3.1.5).
  public init?(_ lines: [String]) {
    for part in lines.flatMap({ $0.split(separator: ",") }) {
      let text = Self.trimmed(part)
      if text.isEmpty { continue }  // §3.3.1.1: empty members are allowed
      guard members.count < Self.most, let equals = text.firstIndex(of: "=") else { return nil }
      let member = Member(key: String(text[..<equals]), value: String(text[text.index(after: equals)...]))
      guard Self.isKey(member.key), Self.isValue(member.value), self[member.key] == nil else { return nil }
      members.append(member)
    }
  }

  /// The value under a key; nil where there is none.
  public subscript(key: String) -> String? { members.first { $0.key == key }?.value }

  /// Notes a value, in front of all others; the last is dropped where there are too many.
  /// Throws ``TraceFieldError`` for a key or a value that the field cannot carry.
  public mutating func set(_ value: String, for key: String) throws {
    guard Self.isKey(key), Self.isValue(value) else {
      throw TraceFieldError.tracestate(key)
    }
    members.removeAll { $0.key == key }
    members.insert(Member(key: key, value: value), at: 0)
    if members.count > Self.most { members.removeLast() }
  }

  /// The value of the field; empty where there are no members.
  public var description: String { members.map { "\($0.key)=\($0.value)" }.joined(separator: ",") }

  // §3.3.1.3.1, level 2: small letters, digits and _-*/@, beginning with one of the former two, 256 at most.
  private static func isKey(_ key: String) -> Bool {
    guard let first = key.utf8.first, key.utf8.count <= 256, isLetterOrDigit(first) else { return false }
    return key.utf8.allSatisfy { isLetterOrDigit($0) || "_-*/@".utf8.contains($0) }
  }

  // §3.3.1.3.2: printable ASCII but comma and equals sign, not ending in a blank, 256 at most.
  private static func isValue(_ value: String) -> Bool {
    guard !value.isEmpty, value.utf8.count <= 256, value.utf8.last != UInt8(ascii: " ") else { return false }
    return value.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=") }
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  static func trimmed(_ text: Substring) -> Substring {
    let isBlank = { (character: Character) in character == " " || character == "\t" }
    let end = text.lastIndex { !isBlank($0) }.map { text.index(after: $0) } ?? text.startIndex
    return text[..<end].drop(while: isBlank)
  }
}

/// A name or a value that a field of a trace cannot carry.
public enum TraceFieldError: Error, Sendable, Hashable, CustomStringConvertible {
  /// For `tracestate`, under this key.
  case tracestate(String)
  /// For `baggage`, under this name.
  case baggage(String)

  /// What is wrong, and what would be right.
  public var description: String {
    switch self {
    case .tracestate(let key):
      "tracestate cannot carry '\(key)': keys are small letters, digits and _-*/@, values printable ASCII without , and =, both 256 at most"
    case .baggage(let name): "baggage cannot carry '\(name)': names are tokens, as those of header fields"
    }
  }
}
