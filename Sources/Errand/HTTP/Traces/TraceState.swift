/// The value of `tracestate`, in which each tracing system that took part in a trace stores data under its own key (W3C
/// Trace Context §3.3).
public struct TraceState: Sendable, Hashable, CustomStringConvertible {
  /// An entry with a key and a value.
  public struct Member: Sendable, Hashable {
    /// The key of the tracing system that added the entry.
    public let key: String
    /// The value that the system stored.
    public let value: String
  }

  /// The entries, newest first. At most 32.
  public private(set) var members: [Member] = []

  private static let most = 32

  /// Creates an empty state.
  public init() {}

  /// Parses the values of a `tracestate` field. Returns `nil` if an entry is malformed, if a key is repeated, or if
  /// there are more than 32 entries (§3.3.1.5).
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

  /// The value for a key, or `nil` if the key is missing.
  public subscript(key: String) -> String? { members.first { $0.key == key }?.value }

  /// Sets a value and moves it to the front. If there are now more than 32 entries, the last one is dropped.
  ///
  /// Throws ``TraceFieldError`` if the field can't represent the key or the value.
  public mutating func set(_ value: String, for key: String) throws {
    guard Self.isKey(key), Self.isValue(value) else {
      throw TraceFieldError.tracestate(key)
    }
    members.removeAll { $0.key == key }
    members.insert(Member(key: key, value: value), at: 0)
    if members.count > Self.most { members.removeLast() }
  }

  /// The value of the field. Empty if ``members`` is empty.
  public var description: String { members.map { "\($0.key)=\($0.value)" }.joined(separator: ",") }

  // §3.3.1.3.1, level 2: at most 256 lowercase letters, digits and _-*/@, starting with a letter or digit.
  private static func isKey(_ key: String) -> Bool {
    guard let first = key.utf8.first, key.utf8.count <= 256, isLetterOrDigit(first) else { return false }
    return key.utf8.allSatisfy { isLetterOrDigit($0) || "_-*/@".utf8.contains($0) }
  }

  // §3.3.1.3.2: at most 256 printable ASCII characters except comma and equals sign, not ending in a space.
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

/// The error thrown for a name or value that a trace header field can't represent.
public enum TraceFieldError: Error, Sendable, Hashable, CustomStringConvertible {
  /// An invalid key in `tracestate`, or a key with an invalid value.
  case tracestate(String)
  /// An invalid name in `baggage`.
  case baggage(String)

  /// The invalid name or key, and the characters that are allowed.
  public var description: String {
    switch self {
    case .tracestate(let key):
      "invalid tracestate entry '\(key)': use at most 256 lowercase letters, digits and _-*/@ in the key, and at most 256 printable ASCII characters except , and = in the value"
    case .baggage(let name):
      "invalid name '\(name)' in baggage: use the characters that are allowed in the name of a header field"
    }
  }
}
