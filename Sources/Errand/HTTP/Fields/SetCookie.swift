import ErrandFoundation

/// The `SameSite` attribute of a cookie, which controls whether it is sent with cross-site requests (RFC 6265bis
/// §5.6.7).
public enum SameSite: String, Sendable, Hashable {
  /// Sent only with requests from the cookie's own site.
  case strict
  /// Also sent when another site navigates to the cookie's site with a safe method. The default for cookies without the
  /// attribute.
  case lax
  /// Sent with all requests, including cross-site ones.
  case none
}

/// A parsed `Set-Cookie` field line (RFC 6265bis §5.6).
struct SetCookie: Sendable, Equatable {
  /// The maximum length of the name and the value together, in bytes (§5.6, step 5).
  static let maximumSize = 4096
  /// The maximum length of an attribute value, in bytes. Longer attributes are ignored (§5.6).
  static let maximumAttributeSize = 1024

  let name: String
  let value: String
  /// `Max-Age` in seconds.
  private(set) var maxAge: Int?
  private(set) var expires: Date?
  /// The domain in lower case, without a leading dot.
  private(set) var domain = ""
  private(set) var statesPath = false
  /// The path, or `nil` to use the path of the request.
  private(set) var path: String?
  private(set) var isSecure = false
  private(set) var isHTTPOnly = false
  private(set) var sameSite: SameSite?

  init?(_ line: String) {
    let bytes = Array(line.utf8)
    // §5.6, step 1: reject control characters other than tab.
    guard !bytes.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F }) else { return nil }
    // Invalid UTF-8 was replaced when the line was decoded, so the value couldn't be sent back unchanged.
    guard !line.hasReplacements else { return nil }
    let parts = bytes.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
    // Steps 3 to 5: without an equals sign, the entire text is the value.
    let pair = Self.pair(parts[0])
    let (name, value) = pair ?? ([], Self.trimmed(parts[0]))
    guard name.count + value.count <= Self.maximumSize else { return nil }
    // §5.7, step 2: reject a cookie without a name and a value.
    guard !name.isEmpty || !value.isEmpty else { return nil }
    self.name = String(decoding: name, as: UTF8.self)
    self.value = String(decoding: value, as: UTF8.self)
    for part in parts.dropFirst() {
      let (name, value) = Self.pair(part) ?? (Self.trimmed(part), [])
      guard value.count <= Self.maximumAttributeSize else { continue }
      take(String(decoding: name, as: UTF8.self).lowercased(), String(decoding: value, as: UTF8.self))
    }
  }

  /// Applies an attribute. If a name is repeated, the last valid value wins (§5.7).
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
      // §5.6.4: if the path is invalid, use the path of the request.
      path = value.utf8.first == UInt8(ascii: "/") ? value : nil
    case "secure": isSecure = true
    case "httponly": isHTTPOnly = true
    case "samesite": sameSite = SameSite(rawValue: value.lowercased())
    default: break
    }
  }

  // §5.6.2: digits with an optional minus sign.
  private static func seconds(_ value: String) -> Int? {
    guard value.first == "-" else { return DeltaSeconds.parse(value) }
    return DeltaSeconds.parse(value.dropFirst()).map { -$0 }
  }

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
