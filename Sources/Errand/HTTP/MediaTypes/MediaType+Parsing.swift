extension MediaType {
  /// The parameters by their names in lower case, in order, the first of each name (MIME Sniffing §4.4).
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

  /// This media type in its shortest form, `text/html;charset=utf-8`, or `nil` if it is malformed (MIME Sniffing §4.5).
  ///
  /// Essence and names are in lower case. Malformed and repeated parameters are left out.
  public var normalized: MediaType? {
    let essence = Substring(rawValue.utf8.prefix { $0 != UInt8(ascii: ";") }).trimmingHTTPSpaces()
    let parts = essence.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ HTTPHeaderName.isValid(String(Substring($0))) }) else { return nil }
    return MediaType(parameters.reduce(into: essence.lowercased()) { Self.add($1.name, $1.value, to: &$0) })
  }

  private static func add(_ name: String, _ value: String, to text: inout String) {
    text += ";\(name)=\(HTTPHeaderName.isValid(value) ? value : value.quoted)"
  }

  /// The media type of a list of them, which comes of several `Content-Type` lines, or `nil` if none is valid. The last one
  /// counts, with the charset of an earlier one of the same essence if it has none (Fetch §2.2.2: extract a MIME type).
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

  /// Whether a byte may be part of a value: a tab, or a character from U+0020 to U+00FF that is not a control character (MIME
  /// Sniffing §2: HTTP quoted-string token code point). In UTF-8, 0xC3 begins the last of these characters.
  private static func mayBeQuoted(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\t") || (0x20...0x7E).contains(byte) || (0x80...0xC3).contains(byte)
  }
}
