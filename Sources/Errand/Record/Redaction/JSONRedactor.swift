import ErrandFoundation

/// Hides the values of secret members in JSON, whatever they hold: of secret names, and at secret places. Their types stay.
///
/// It works on the bytes and needs no valid document, so that a body that is cut off, or not quite JSON, is redacted
/// too, in time that grows with its size alone.
struct JSONRedactor {
  private let bytes: [UInt8]
  private let redaction: Redaction
  private lazy var signs = ExchangeSigns(bytes)
  private var position = 0
  /// The paths that lead on from the container around `position`, and from those around it.
  private var inside: SecretPlaces
  private var around: [(places: SecretPlaces, count: Int)] = []
  /// Those that lead on from the value that comes next.
  private var ahead: SecretPlaces?

  init(_ text: String, _ redaction: Redaction) {
    bytes = Array(text.utf8)
    self.redaction = redaction
    inside = redaction.places
  }

  /// The text with every secret value replaced.
  mutating func redacted() -> String {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    while position < bytes.count {
      let start = position
      guard bytes[position] == Self.quote else {
        follow(bytes[start])
        position += 1
        result.append(bytes[start])
        continue
      }
      skipString()
      let name = bytes[start..<position]
      let isMember = skipColon()
      result.append(contentsOf: bytes[start..<position])
      guard isMember, position < bytes.count, let kind = secretKind(of: Self.unescaped(name)) else { continue }
      ahead = nil
      let value = HiddenValue(
        bytes, from: position, quote: .init(mark: Self.quote, escapes: 0), keepsNumbers: kind == .plural)
      result.append(contentsOf: value.shown)
      position = value.end
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// The kind of a member whose value, which is next, is hidden; nil for any other, which `ahead` leads into.
  private mutating func secretKind(of name: String) -> SecretKind? {
    if !inside.isEmpty { ahead = inside.within(name) }
    if ahead?.isReached == true { return .secret }
    let kind = redaction.kind(of: name)
    return kind != .plain && kind.hidesMember(textAhead, signs) ? kind : nil
  }

  /// The text that is next, with its escapes; nil if something else is.
  private var textAhead: ArraySlice<UInt8>? {
    guard bytes[position] == Self.quote else { return nil }
    var end = position + 1
    while end < bytes.count, bytes[end] != Self.quote { end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1 }
    return bytes[(position + 1)..<min(end, bytes.count)]
  }

  /// Into the object or array that begins with this byte, or out of the one that ends with it. Its elements are where it is.
  private mutating func follow(_ byte: UInt8) {
    guard !redaction.places.isEmpty else { return }
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      // A peer may send any number in each other: those that are the same are one.
      if let last = around.indices.last, around[last].places == inside {
        around[last].count += 1
      } else {
        around.append((inside, 1))
      }
      inside = ahead ?? inside
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      guard let last = around.indices.last else {
        inside = redaction.places
        break
      }
      inside = around[last].places
      around[last].count -= 1
      if around[last].count == 0 { around.removeLast() }
    case UInt8(ascii: ","): break
    case UInt8(ascii: "\n") where beginsAnew: inside.add(redaction.places)
    default: return
    }
    ahead = nil
  }

  /// True where the next line may be another document: of lines of JSON, or of a stream of events.
  private var beginsAnew: Bool {
    let line = bytes[min(position + 1, bytes.count)...]
    return line.first == UInt8(ascii: "{") || line.first == UInt8(ascii: "[") || line.starts(with: "data:".utf8)
  }

  /// True where a line ends, and another document or an empty line follows.
  private var endsDocument: Bool {
    guard isLineBreak(position) else { return false }
    let isPair = bytes[position...].starts(with: "\r\n".utf8)
    return beginsAnew || isLineBreak(position + (isPair ? 2 : 1)) || isFollowedByJSON
  }

  /// True where the next line begins, after blanks, with an object, an array or the name of a member.
  private var isFollowedByJSON: Bool {
    let line = bytes[(position + 1)...].drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    switch line.first {
    case UInt8(ascii: "{"): return "\"}".utf8.contains(Self.firstMark(of: line.dropFirst()))
    case UInt8(ascii: "["): return "{[\"".utf8.contains(Self.firstMark(of: line.dropFirst()))
    case Self.quote:
      let name = line.dropFirst().prefix { $0 != Self.quote && $0 != UInt8(ascii: "\n") }
      return Self.firstMark(of: bytes[name.endIndex...].dropFirst()) == UInt8(ascii: ":")
    default: return false
    }
  }

  /// The first byte that is no blank, among those that are looked at: not any number at every line.
  private static func firstMark(of bytes: some Sequence<UInt8>) -> UInt8 {
    bytes.prefix(200).first { !isBlank($0) } ?? 0
  }

  private func isLineBreak(_ place: Int) -> Bool {
    place < bytes.count && (bytes[place] == UInt8(ascii: "\n") || bytes[place] == UInt8(ascii: "\r"))
  }

  /// Past the string that begins here, or to the end where it is cut off. A line break in it is a fault: one of a name or a value ends it
  /// where another document, or an empty line, follows; one of a secret is hidden with it.
  private mutating func skipString() {
    position += 1
    while position < bytes.count, bytes[position] != Self.quote {
      if endsDocument { return }
      position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
    }
    position = min(position + 1, bytes.count)
  }

  /// Past the colon after a name, with the blanks around it; false, and nowhere, where there is none.
  private mutating func skipColon() -> Bool {
    let start = position
    skipBlanks()
    guard position < bytes.count, bytes[position] == UInt8(ascii: ":") else {
      position = start
      return false
    }
    position += 1
    skipBlanks()
    return true
  }

  private mutating func skipBlanks() {
    while position < bytes.count, Self.isBlank(bytes[position]) { position += 1 }
  }

  /// A name as it is meant: `"pass\u0077ord"` is a password too.
  private static func unescaped(_ quoted: ArraySlice<UInt8>) -> String {
    let isPlain = !quoted.contains(UInt8(ascii: "\\"))
    if !isPlain, let name = try? JSONDecoder().decode(String.self, from: Data(quoted)) { return name }
    return String(decoding: quoted.dropFirst().dropLast(), as: UTF8.self)
  }

  private static let quote = UInt8(ascii: "\"")

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
  }
}
