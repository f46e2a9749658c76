import ErrandFoundation

/// The rule of a cookie for requests that another site has caused (RFC 6265bis §5.6.7).
public enum SameSite: String, Sendable, Hashable {
  /// Sent to its own site alone.
  case strict
  /// Sent also where another site leads to it, with a safe method. The rule of cookies that state none.
  case lax
  /// Sent wherever it comes from.
  case none
}

/// One line of `Set-Cookie`, as its server wrote it (RFC 6265bis §5.6).
struct SetCookie: Sendable, Equatable {
  /// The most bytes of name and value together (§5.6, step 5).
  static let maximumSize = 4096
  /// The most bytes of an attribute's value; a longer attribute is ignored (§5.6).
  static let maximumAttributeSize = 1024

  let name: String
  let value: String
  /// `Max-Age` in seconds.
  private(set) var maxAge: Int?
  private(set) var expires: Date?
  /// In lower case, without the dot that it may begin with.
  private(set) var domain = ""
  /// True where there is a `Path`.
  private(set) var statesPath = false
  /// The path; nil where it is that of the request.
  private(set) var path: String?
  private(set) var isSecure = false
  private(set) var isHTTPOnly = false
  private(set) var sameSite: SameSite?

  /// The cookie of a line; nil where the line is to be ignored.
  init?(_ line: String) {
    let bytes = Array(line.utf8)
    // §5.6, step 1: a control character other than a tab.
    guard !bytes.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F }) else { return nil }
    // Nor bytes that are no text: they would go back as others.
    guard !line.hasReplacements else { return nil }
    let parts = bytes.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
    // Steps 3 to 5: without an equals sign all of it is the value.
    let pair = Self.pair(parts[0])
    let (name, value) = pair ?? ([], Self.trimmed(parts[0]))
    guard name.count + value.count <= Self.maximumSize else { return nil }
    // §5.7, step 2.
    guard !name.isEmpty || !value.isEmpty else { return nil }
    self.name = String(decoding: name, as: UTF8.self)
    self.value = String(decoding: value, as: UTF8.self)
    for part in parts.dropFirst() {
      let (name, value) = Self.pair(part) ?? (Self.trimmed(part), [])
      guard value.count <= Self.maximumAttributeSize else { continue }
      take(String(decoding: name, as: UTF8.self).lowercased(), String(decoding: value, as: UTF8.self))
    }
  }

  /// Takes an attribute; of several with the same name the last one that says anything counts (§5.7).
  private mutating func take(_ name: String, _ value: String) {
    switch name {
    case "expires":
      if let date = CookieDate.parse(value) { expires = date }
    case "max-age":
      if let seconds = Self.seconds(value) { maxAge = seconds }
    case "domain":
      let bytes = value.utf8
      domain = Substring(bytes.first == UInt8(ascii: ".") ? bytes.dropFirst() : bytes[...]).lowercased()
    case "path":
      statesPath = true
      // §5.6.4: a path that is none is that of the request.
      path = value.utf8.first == UInt8(ascii: "/") ? value : nil
    case "secure": isSecure = true
    case "httponly": isHTTPOnly = true
    case "samesite": sameSite = SameSite(rawValue: value.lowercased())
    default: break
    }
  }

  // §5.6.2: digits, perhaps after a minus.
  private static func seconds(_ value: String) -> Int? {
    guard value.first == "-" else { return DeltaSeconds.parse(value) }
    return DeltaSeconds.parse(value.dropFirst()).map { -$0 }
  }

  /// Both sides of the first equals sign; nil where there is none.
  private static func pair(_ part: ArraySlice<UInt8>) -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)? {
    guard let sign = part.firstIndex(of: UInt8(ascii: "=")) else { return nil }
    return (trimmed(part[..<sign]), trimmed(part[(sign + 1)...]))
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    guard let first = bytes.firstIndex(where: { !isBlank($0) }), let last = bytes.lastIndex(where: { !isBlank($0) })
    else { return [] }
    return bytes[first...last]
  }
}
