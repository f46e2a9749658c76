/// Names and values that travel with a trace to every service on its way (W3C Baggage): the value of `baggage`.
///
///     var baggage = Baggage()
///     try baggage.set("7", for: "tenant")
///
/// Everyone on the way can read it. Values are hidden wherever requests are shown.
public struct Baggage: Sendable, Hashable, CustomStringConvertible {
  /// A name and its value.
  public struct Member: Sendable, Hashable {
    /// The name.
    public let name: String
    /// The value.
    public let value: String
    /// What was said about it, as it came; empty for most.
    public let properties: String
  }

  /// The members, in order.
  public private(set) var members: [Member] = []

  /// The most bytes that are sent; members that do not fit are left out (§4.3).
  private static let mostBytes = 8192
  /// The most members that are sent.
  private static let most = 180

  /// None.
  public init() {}

  /// The members of a header's fields, in order; those that are malformed are left out, of two with one name the first is, and those after
  /// the 180th.
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

  /// The value under a name; nil where there is none.
  public subscript(name: String) -> String? { members.first { $0.name == name }?.value }

  /// Sets a value, which may be any text.
  /// Throws ``TraceFieldError`` for a name that is no token.
  public mutating func set(_ value: String, for name: String) throws {
    guard HTTPHeaderName(name).isValid else { throw TraceFieldError.baggage(name) }
    members.removeAll { $0.name == name }
    members.append(Member(name: name, value: value, properties: ""))
  }

  /// Removes a value.
  public mutating func remove(_ name: String) { members.removeAll { $0.name == name } }

  /// The value of the field; empty where there are no members.
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

  // §3.3.1.3: printable ASCII but blank, quotation mark, comma, semicolon and backslash.
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

  /// The text with its escapes decoded; what is no escape stays as it is, and what is no UTF-8 is replaced (§3.3.1.3).
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
