/// The name of a header field. Comparison ignores case, and the original case is sent.
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
  var isOfFraming: Bool {
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
  /// Accept.
  public static let accept: HTTPHeaderName = "Accept"
  /// Accept-Encoding.
  public static let acceptEncoding: HTTPHeaderName = "Accept-Encoding"
  /// Accept-Language.
  public static let acceptLanguage: HTTPHeaderName = "Accept-Language"
  /// Authorization.
  public static let authorization: HTTPHeaderName = "Authorization"
  /// Cache-Control.
  public static let cacheControl: HTTPHeaderName = "Cache-Control"
  /// Connection.
  public static let connection: HTTPHeaderName = "Connection"
  /// Content-Digest (RFC 9530).
  public static let contentDigest: HTTPHeaderName = "Content-Digest"
  /// Content-Disposition (RFC 6266).
  public static let contentDisposition: HTTPHeaderName = "Content-Disposition"
  /// Content-Encoding.
  public static let contentEncoding: HTTPHeaderName = "Content-Encoding"
  /// Content-Length.
  public static let contentLength: HTTPHeaderName = "Content-Length"
  /// Content-Range.
  public static let contentRange: HTTPHeaderName = "Content-Range"
  static let contentTransferEncoding: HTTPHeaderName = "Content-Transfer-Encoding"
  /// Content-Type.
  public static let contentType: HTTPHeaderName = "Content-Type"
  /// Cookie.
  public static let cookie: HTTPHeaderName = "Cookie"
  /// Date.
  public static let date: HTTPHeaderName = "Date"
  /// ETag.
  public static let eTag: HTTPHeaderName = "ETag"
  /// Expect.
  public static let expect: HTTPHeaderName = "Expect"
  /// Host.
  public static let host: HTTPHeaderName = "Host"
  /// Idempotency-Key: identifies a request across retries.
  public static let idempotencyKey: HTTPHeaderName = "Idempotency-Key"
  /// If-Modified-Since.
  public static let ifModifiedSince: HTTPHeaderName = "If-Modified-Since"
  /// If-None-Match.
  public static let ifNoneMatch: HTTPHeaderName = "If-None-Match"
  /// If-Range.
  public static let ifRange: HTTPHeaderName = "If-Range"
  /// Last-Event-ID (HTML Standard §9.2.4).
  public static let lastEventID: HTTPHeaderName = "Last-Event-ID"
  /// Last-Modified.
  public static let lastModified: HTTPHeaderName = "Last-Modified"
  /// Link.
  public static let link: HTTPHeaderName = "Link"
  /// Location.
  public static let location: HTTPHeaderName = "Location"
  /// Proxy-Authenticate.
  public static let proxyAuthenticate: HTTPHeaderName = "Proxy-Authenticate"
  /// Proxy-Authorization.
  public static let proxyAuthorization: HTTPHeaderName = "Proxy-Authorization"
  /// Range.
  public static let range: HTTPHeaderName = "Range"
  /// Repr-Digest (RFC 9530).
  public static let reprDigest: HTTPHeaderName = "Repr-Digest"
  /// Retry-After.
  public static let retryAfter: HTTPHeaderName = "Retry-After"
  /// Set-Cookie.
  public static let setCookie: HTTPHeaderName = "Set-Cookie"
  /// Transfer-Encoding.
  public static let transferEncoding: HTTPHeaderName = "Transfer-Encoding"
  /// User-Agent.
  public static let userAgent: HTTPHeaderName = "User-Agent"
  /// Vary.
  public static let vary: HTTPHeaderName = "Vary"
  /// WWW-Authenticate.
  public static let wwwAuthenticate: HTTPHeaderName = "WWW-Authenticate"
}
