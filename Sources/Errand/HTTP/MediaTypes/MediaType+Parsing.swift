extension MediaType {
  /// The parameters, in order, with lowercase names. If a name is repeated, the first one is kept (MIME Sniffing §4.4).
  var parameters: [(name: String, value: String)] {
    var scanner = FieldScanner(rawValue[...].trimmingHTTPSpaces())
    var parameters: [(name: String, value: String)] = []
    var known: Set<String> = []
    let semicolon = UInt8(ascii: ";")
    while true {
      _ = scanner.take { $0 == semicolon }
      guard scanner.skip(semicolon) else { return parameters }
      _ = scanner.take { !FieldScanner.isHTTPSpace($0) }
      let name = scanner.take { $0 == semicolon || $0 == UInt8(ascii: "=") }
      guard scanner.skip(UInt8(ascii: "=")) else { continue }
      let value: [UInt8]
      if let text = scanner.openQuotedString() {
        value = text.bytes
      } else {
        value = Array(scanner.take { $0 == semicolon }.reversed().drop { FieldScanner.isHTTPSpace($0) }.reversed())
        if value.isEmpty { continue }
      }
      guard !name.isEmpty, name.allSatisfy({ HTTPHeaderName.isTokenByte($0) }), value.allSatisfy(Self.mayBeQuoted)
      else { continue }
      let lowered = String(decoding: name, as: UTF8.self).lowercased()
      if known.insert(lowered).inserted { parameters.append((lowered, String(decoding: value, as: UTF8.self))) }
    }
  }

  /// The media type in its shortest form, such as `text/html;charset=utf-8`, or `nil` if it is malformed (MIME Sniffing
  /// §4.5).
  ///
  /// The essence and the parameter names are in lower case. Malformed and repeated parameters are removed.
  public var normalized: MediaType? {
    let essence = Substring(rawValue.utf8.prefix { $0 != UInt8(ascii: ";") }).trimmingHTTPSpaces()
    let parts = essence.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ HTTPHeaderName.isValid(String(Substring($0))) }) else { return nil }
    return MediaType(parameters.reduce(into: essence.lowercased()) { Self.add($1.name, $1.value, to: &$0) })
  }

  private static func add(_ name: String, _ value: String, to text: inout String) {
    text += ";\(name)=\(HTTPHeaderName.isValid(value) ? value : value.quoted)"
  }

  /// Returns the last valid media type in a list that was joined from several `Content-Type` field lines. If the type
  /// has no charset, it inherits the charset of an earlier type with the same essence (Fetch §2.2.2: extract a MIME
  /// type). Returns `nil` if no type is valid.
  static func extracted(from list: String) -> MediaType? {
    var last: MediaType?
    var charset: String?
    for member in FieldScanner.members(of: [list]) {
      guard let type = MediaType(member).normalized, type.essence != "*/*" else { continue }
      var text = type.rawValue
      let stated = type.parameter("charset")
      if type.essence != last?.essence {
        charset = stated
      } else if stated == nil, let charset {
        add("charset", charset, to: &text)
      }
      last = MediaType(text)
    }
    return last
  }

  /// Whether a byte is allowed in a value: a tab, or a non-control character from U+0020 to U+00FF (MIME Sniffing §2:
  /// HTTP quoted-string token code point). In UTF-8, the last of these characters starts with 0xC3.
  private static func mayBeQuoted(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\t") || (0x20...0x7E).contains(byte) || (0x80...0xC3).contains(byte)
  }
}
