import ErrandFoundation

/// Hides the values of secret members in JSON, by name and by path, without changing the types of the values.
///
/// It works on bytes and does not require a valid document, so truncated or malformed JSON is redacted too. Runs in
/// linear time.
struct JSONRedactor {
  private let bytes: [UInt8]
  private let redaction: Redaction
  private lazy var signs = ExchangeSigns(bytes)
  private var position = 0
  /// The remaining secret paths inside the current container, and those inside its parent containers.
  private var inside: SecretPlaces
  private var around: [(places: SecretPlaces, count: Int)] = []
  /// The remaining secret paths inside the next value.
  private var ahead: SecretPlaces?

  init(_ text: String, _ redaction: Redaction) {
    bytes = Array(text.utf8)
    self.redaction = redaction
    inside = redaction.places
  }

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

  /// Returns the kind of the member `name` if its value, which comes next, is a secret. Otherwise, returns `nil` and
  /// stores the secret paths inside the value in `ahead`.
  private mutating func secretKind(of name: String) -> SecretKind? {
    if !inside.isEmpty { ahead = inside.within(name) }
    if ahead?.isReached == true { return .secret }
    let kind = redaction.kind(of: name)
    return kind != .plain && kind.hidesMember(textAhead, signs) ? kind : nil
  }

  /// The next value's content, still escaped, or `nil` if it is not a string.
  private var textAhead: ArraySlice<UInt8>? {
    guard bytes[position] == Self.quote else { return nil }
    var end = position + 1
    while end < bytes.count, bytes[end] != Self.quote { end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1 }
    return bytes[(position + 1)..<min(end, bytes.count)]
  }

  /// Enters the object or array that begins with this byte, or leaves the one that ends with it. Array elements have
  /// the path of the array.
  private mutating func follow(_ byte: UInt8) {
    guard !redaction.places.isEmpty else { return }
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      // Count equal levels instead of storing them, because the peer controls the nesting depth.
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

  /// Whether the next line can begin another document, as in JSON Lines or an event stream.
  private var beginsAnew: Bool {
    let line = bytes[min(position + 1, bytes.count)...]
    return line.first == UInt8(ascii: "{") || line.first == UInt8(ascii: "[") || line.starts(with: "data:".utf8)
  }

  /// Whether this is a line break followed by another document or an empty line.
  private var endsDocument: Bool {
    guard isLineBreak(position) else { return false }
    let isPair = bytes[position...].starts(with: "\r\n".utf8)
    return beginsAnew || isLineBreak(position + (isPair ? 2 : 1)) || isFollowedByJSON
  }

  /// Whether the next line begins, after whitespace, with an object, an array or the name of a member.
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

  /// Returns the first byte that is not whitespace. Checks only 200 bytes, because this runs at every line break.
  private static func firstMark(of bytes: some Sequence<UInt8>) -> UInt8 {
    bytes.prefix(200).first { !isBlank($0) } ?? 0
  }

  private func isLineBreak(_ place: Int) -> Bool {
    place < bytes.count && (bytes[place] == UInt8(ascii: "\n") || bytes[place] == UInt8(ascii: "\r"))
  }

  /// Skips the string that begins here. A truncated string extends to the end of the text. A raw line break in a string
  /// is invalid: it ends a name or value if another document or an empty line follows. In a secret, the line break is
  /// hidden.
  private mutating func skipString() {
    position += 1
    while position < bytes.count, bytes[position] != Self.quote {
      if endsDocument { return }
      position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
    }
    position = min(position + 1, bytes.count)
  }

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

  /// Returns the name with its escapes decoded, because `"pass\u0077ord"` is a password too.
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
