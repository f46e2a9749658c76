/// The value of `baggage`, which contains names and values that are propagated to every service in a trace (W3C
/// Baggage).
///
///     var baggage = Baggage()
///     try baggage.set("7", for: "tenant")
///
/// Every service that receives the baggage can read it. Errand redacts the values in its output.
public struct Baggage: Sendable, Hashable, CustomStringConvertible {
  /// An entry with a name and a value.
  public struct Member: Sendable, Hashable {
    /// The name. Names are case-sensitive.
    public let name: String
    /// The value, unescaped.
    public let value: String
    /// The properties of the entry, unparsed. Usually empty.
    public let properties: String
  }

  /// The entries, in order.
  public private(set) var members: [Member] = []

  /// The maximum length of the field, in bytes. Entries that don't fit are omitted (§4.3).
  private static let mostBytes = 8192
  private static let most = 180

  /// Creates empty baggage.
  public init() {}

  /// Parses the values of a `baggage` field. Malformed entries are omitted. If a name is repeated, the last entry is
  /// kept. After 180 entries, entries with new names are omitted.
  public init(_ lines: [String]) {
    var (members, places): ([Member?], [String: Int]) = ([], [:])
    for part in lines.flatMap({ $0.split(separator: ",") }) {
      let sections = part.split(separator: ";", maxSplits: 1).map { TraceState.trimmed($0) }
      guard let pair = sections.first, let equals = pair.firstIndex(of: "=") else { continue }
      let name = String(TraceState.trimmed(pair[..<equals]))
      let text = TraceState.trimmed(pair[pair.index(after: equals)...])
      guard HTTPHeaderName(name).isValid, text.utf8.allSatisfy(Self.isOctet) else { continue }
      let value = Self.unescaped(text)
      let properties = sections.count > 1 ? String(sections[1]) : ""
      guard properties.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { continue }
      if let place = places[name] { members[place] = nil } else if places.count == Self.most { continue }
      places[name] = members.count
      members.append(Member(name: name, value: value, properties: properties))
    }
    self.members = members.compactMap { $0 }
  }

  /// The value for a name, or `nil` if the name is missing.
  public subscript(name: String) -> String? { members.first { $0.name == name }?.value }

  /// Sets a value, which can be any text.
  ///
  /// Throws ``TraceFieldError`` if the name isn't a token.
  public mutating func set(_ value: String, for name: String) throws {
    guard HTTPHeaderName(name).isValid else { throw TraceFieldError.baggage(name) }
    members.removeAll { $0.name == name }
    members.append(Member(name: name, value: value, properties: ""))
  }

  /// Removes the value for a name.
  public mutating func remove(_ name: String) { members.removeAll { $0.name == name } }

  /// The value of the field. Empty if ``members`` is empty.
  public var description: String {
    var text = ""
    for member in members.prefix(Self.most) {
      let value = Self.escaped(member.value)
      let part = "\(member.name)=\(value)\(member.properties.isEmpty ? "" : ";\(member.properties)")"
      guard text.utf8.count + part.utf8.count < Self.mostBytes else { continue }
      text += text.isEmpty ? part : ",\(part)"
    }
    return text
  }

  // §3.3.1.3: printable ASCII except space, quotation mark, comma, semicolon and backslash.
  private static func isOctet(_ byte: UInt8) -> Bool {
    (0x21...0x7E).contains(byte) && !"\",;\\".utf8.contains(byte)
  }

  private static func escaped(_ value: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in value.utf8 {
      if isOctet(byte), byte != UInt8(ascii: "%") {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Decodes the escapes in a text. Invalid escapes are left unchanged, and invalid UTF-8 is replaced (§3.3.1.3).
  private static func unescaped(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8
    while let byte = rest.popFirst() {
      let digits = rest.prefix(2)
      let isNumber = digits.count == 2 && digits.allSatisfy { $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }
      if byte == UInt8(ascii: "%"), isNumber, let escaped = UInt8(String(Substring(digits)), radix: 16) {
        bytes.append(escaped)
        rest.removeFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
