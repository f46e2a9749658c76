/// The name of a header field. Comparisons ignore case, and the name is sent in its original case.
public struct HTTPHeaderName: Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The name as it was written.
  public let rawName: String

  /// Creates a name.
  public init(_ name: String) { rawName = name }

  /// Creates a name.
  public init(stringLiteral value: String) { rawName = value }

  /// The name as it was written.
  public var description: String { rawName }

  /// Whether the name is a token (RFC 9110 §5.1), so it can be sent.
  public var isValid: Bool { Self.isValid(rawName) }

  static func isValid(_ name: String) -> Bool { !name.isEmpty && name.hasOnlyBytes(where: isTokenByte) }

  // RFC 9110 §5.6.2: tchar.
  static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
      UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
      true
    default: false
    }
  }

  private static func folded(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }
}

extension HTTPHeaderName: Hashable {
  /// Whether both names are the same, ignoring case.
  @inline(__always)
  public static func == (left: HTTPHeaderName, right: HTTPHeaderName) -> Bool {
    // Comparing lengths first avoids a call for most names.
    left.rawName.utf8.count == right.rawName.utf8.count && left.hasSameBytes(as: right)
  }

  private func hasSameBytes(as other: HTTPHeaderName) -> Bool {
    rawName.hasSameBytes(as: other.rawName) { $0 == $1 || Self.folded($0) == Self.folded($1) }
  }

  /// Whether the field determines where the body of a message ends.
  package var isOfFraming: Bool {
    let length = rawName.utf8.count  // lengths rule out most names
    return length == 14 && self == .contentLength || length == 17 && self == .transferEncoding
  }

  /// Hashes the name, ignoring case.
  public func hash(into hasher: inout Hasher) {
    rawName.withBytes { bytes in
      var word: UInt64 = 0
      for (index, byte) in bytes.enumerated() {
        word = word << 8 | UInt64(Self.folded(byte))
        if index % 8 == 7 { hasher.combine(word) }
      }
      hasher.combine(word)
    }
  }
}

extension HTTPHeaderName {
  /// The `Accept` header field.
  public static let accept: HTTPHeaderName = "Accept"
  /// The `Accept-Encoding` header field.
  public static let acceptEncoding: HTTPHeaderName = "Accept-Encoding"
  /// The `Accept-Language` header field.
  public static let acceptLanguage: HTTPHeaderName = "Accept-Language"
  /// The `Authorization` header field.
  public static let authorization: HTTPHeaderName = "Authorization"
  /// The `Cache-Control` header field.
  public static let cacheControl: HTTPHeaderName = "Cache-Control"
  /// The `Connection` header field.
  public static let connection: HTTPHeaderName = "Connection"
  /// The `Content-Digest` header field (RFC 9530).
  public static let contentDigest: HTTPHeaderName = "Content-Digest"
  /// The `Content-Disposition` header field (RFC 6266).
  public static let contentDisposition: HTTPHeaderName = "Content-Disposition"
  /// The `Content-Encoding` header field.
  public static let contentEncoding: HTTPHeaderName = "Content-Encoding"
  /// The `Content-Length` header field.
  public static let contentLength: HTTPHeaderName = "Content-Length"
  /// The `Content-Range` header field.
  public static let contentRange: HTTPHeaderName = "Content-Range"
  static let contentTransferEncoding: HTTPHeaderName = "Content-Transfer-Encoding"
  /// The `Content-Type` header field.
  public static let contentType: HTTPHeaderName = "Content-Type"
  /// The `Cookie` header field.
  public static let cookie: HTTPHeaderName = "Cookie"
  /// The `Date` header field.
  public static let date: HTTPHeaderName = "Date"
  /// The `ETag` header field.
  public static let eTag: HTTPHeaderName = "ETag"
  /// The `Expect` header field.
  public static let expect: HTTPHeaderName = "Expect"
  /// The `Host` header field.
  public static let host: HTTPHeaderName = "Host"
  /// The `Idempotency-Key` header field, which identifies a request across retries.
  public static let idempotencyKey: HTTPHeaderName = "Idempotency-Key"
  /// The `If-Modified-Since` header field.
  public static let ifModifiedSince: HTTPHeaderName = "If-Modified-Since"
  /// The `If-None-Match` header field.
  public static let ifNoneMatch: HTTPHeaderName = "If-None-Match"
  /// The `If-Range` header field.
  public static let ifRange: HTTPHeaderName = "If-Range"
  /// The `Last-Event-ID` header field (HTML Standard §9.2.4).
  public static let lastEventID: HTTPHeaderName = "Last-Event-ID"
  /// The `Last-Modified` header field.
  public static let lastModified: HTTPHeaderName = "Last-Modified"
  /// The `Link` header field.
  public static let link: HTTPHeaderName = "Link"
  /// The `Location` header field.
  public static let location: HTTPHeaderName = "Location"
  /// The `Proxy-Authenticate` header field.
  public static let proxyAuthenticate: HTTPHeaderName = "Proxy-Authenticate"
  /// The `Proxy-Authorization` header field.
  public static let proxyAuthorization: HTTPHeaderName = "Proxy-Authorization"
  /// The `Range` header field.
  public static let range: HTTPHeaderName = "Range"
  /// The `Repr-Digest` header field (RFC 9530).
  public static let reprDigest: HTTPHeaderName = "Repr-Digest"
  /// The `Retry-After` header field.
  public static let retryAfter: HTTPHeaderName = "Retry-After"
  /// The `Set-Cookie` header field.
  public static let setCookie: HTTPHeaderName = "Set-Cookie"
  /// The `Transfer-Encoding` header field.
  public static let transferEncoding: HTTPHeaderName = "Transfer-Encoding"
  /// The `User-Agent` header field.
  public static let userAgent: HTTPHeaderName = "User-Agent"
  /// The `Vary` header field.
  public static let vary: HTTPHeaderName = "Vary"
  /// The `WWW-Authenticate` header field.
  public static let wwwAuthenticate: HTTPHeaderName = "WWW-Authenticate"
}
