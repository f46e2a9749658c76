import ErrandFoundation

/// Hides the values of secret members in JSON, whatever they hold: of secret names, and at secret places.
///
/// It works on the bytes and needs no valid document, so that a body that is cut off, or not quite JSON, is redacted
/// too, in time that grows with its size alone.
struct JSONRedactor {
  private let bytes: [UInt8]
  private let redaction: Redaction
  /// True where the member `code` says why a request was refused.
  private let isRefusal: Bool
  private var position = 0
  /// The paths that lead on from the container around `position`, and from those around it.
  private var inside: SecretPlaces
  private var around: [(places: SecretPlaces, count: Int)] = []
  /// Those that lead on from the value that comes next.
  private var ahead: SecretPlaces?

  init(_ text: String, _ redaction: Redaction, isRefusal: Bool = false) {
    bytes = Array(text.utf8)
    self.isRefusal = isRefusal
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
      skipString(toEndOfLine: true)
      let name = bytes[start..<position]
      let isMember = skipColon()
      result.append(contentsOf: bytes[start..<position])
      guard isMember, position < bytes.count, isSecret(Self.unescaped(name)) else { continue }
      ahead = nil
      skipValue()
      result.append(contentsOf: "\"\(Redaction.mark)\"".utf8)
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// True for the name of a member whose value is hidden; what leads on from it is ahead otherwise.
  private mutating func isSecret(_ name: String) -> Bool {
    if !inside.isEmpty { ahead = inside.within(name) }
    return redaction.hidesMember(name, ofRefusal: isRefusal) || ahead?.isReached == true
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
  private mutating func skipString(toEndOfLine: Bool = false) {
    position += 1
    while position < bytes.count, bytes[position] != Self.quote {
      if toEndOfLine, endsDocument { return }
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

  /// Past a string, a number, a literal, or an array or object with all that is in it.
  private mutating func skipValue() {
    var depth = 0
    while position < bytes.count {
      switch bytes[position] {
      case Self.quote: skipString()
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        position += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard depth > 0 else { return }
        depth -= 1
        position += 1
      case UInt8(ascii: ",") where depth == 0: return
      case _ where depth == 0: return skipLiteral()
      default: position += 1
      }
      if depth == 0 { return }
    }
  }

  private mutating func skipLiteral() {
    while position < bytes.count, !Self.isBlank(bytes[position]), !",}]".utf8.contains(bytes[position]) {
      position += 1
    }
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
