#if os(Linux)
  import ErrandFoundation

  /// A parsed response head: the status line and the header fields (RFC 9112 §4, §5).
  struct ResponseHead: Equatable {
    var status: HTTPStatus
    var version: HTTPVersion?
    var headers: HTTPHeaders

    private typealias Bytes = UnsafeRawBufferPointer

    /// Parses a head. Returns `nil` if `bytes` don't begin with a status line. Lines end in CRLF or LF (RFC 9112 §2.2).
    init?(_ bytes: [UInt8]) {
      let head = bytes.withUnsafeBytes { bytes -> ResponseHead? in
        var lines = Lines(bytes)
        guard let first = lines.next(), let space = first.position(of: Self.space) else { return nil }
        let rest = first.part((space + 1)..<first.count)
        let code = rest.part(0..<(rest.firstIndex { $0 == Self.space || $0 == UInt8(ascii: "\r") } ?? rest.count))
        guard code.count == 3, code.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) else {
          return nil
        }
        let number = code.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        guard number >= 100 else { return nil }
        return ResponseHead(HTTPStatus(number), Self.version(first.part(0..<space)), Self.fields(&lines))
      }
      guard let head else { return nil }
      self = head
    }

    private init(_ status: HTTPStatus, _ version: HTTPVersion?, _ headers: HTTPHeaders) {
      self.status = status
      self.version = version
      self.headers = headers
    }

    /// Parses header fields. Skips invalid lines.
    static func fields(_ bytes: [UInt8]) -> HTTPHeaders {
      bytes.withUnsafeBytes { bytes in
        var lines = Lines(bytes)
        return fields(&lines)
      }
    }

    private struct Lines: IteratorProtocol {
      private var rest: Bytes

      init(_ bytes: Bytes) { rest = bytes }

      mutating func next() -> Bytes? {
        guard !rest.isEmpty else { return nil }
        let end = rest.position(of: UInt8(ascii: "\n")) ?? rest.count
        defer { rest = rest.part(min(end + 1, rest.count)..<rest.count) }
        return rest.part(0..<end)
      }
    }

    private static let space = UInt8(ascii: " ")

    private static func fields(_ lines: inout Lines) -> HTTPHeaders {
      var headers = HTTPHeaders()
      headers.reserve(8)
      while let line = lines.next() {
        guard let colon = line.position(of: UInt8(ascii: ":")), colon > 0 else { continue }
        let name = HTTPHeaderName(text(line.part(0..<colon)))
        headers.add(text(line.part((colon + 1)..<line.count), of: name), for: name)
      }
      return headers
    }

    /// Decodes bytes as UTF-8, or as Latin-1 if they are not valid UTF-8, and trims whitespace.
    ///
    /// A value that is decoded as Latin-1 would be sent back as different bytes. In `ETag` and `Set-Cookie`, invalid
    /// bytes become replacement characters instead, which prevents the value from being sent back. In URIs, they are
    /// percent-encoded (RFC 9110 §5.5).
    private static func text(_ bytes: Bytes, of name: HTTPHeaderName? = nil) -> String {
      var (start, end) = (0, bytes.count)
      while start < end, isSpace(bytes[start]) { start += 1 }
      while start < end, isSpace(bytes[end - 1]) { end -= 1 }
      let bytes = bytes.part(start..<end)
      if isASCII(bytes) { return String(decoding: bytes, as: UTF8.self) }
      if let text = String(validating: bytes, as: UTF8.self) { return text }
      switch name {
      case .eTag?, .setCookie?: return String(decoding: bytes, as: UTF8.self)
      case .location?, .contentLocation?, HTTPHeaderName("X-Goog-Upload-URL")?: return escaped(bytes)
      case .link?: return escaped(bytes, onlyInAngles: true)
      default: return String(latin1: bytes)
      }
    }

    /// Percent-encodes non-ASCII bytes, optionally only inside angle brackets.
    private static func escaped(_ bytes: Bytes, onlyInAngles: Bool = false) -> String {
      var text = ""
      var isInURI = !onlyInAngles
      for byte in bytes {
        if onlyInAngles, byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">") { isInURI = byte == UInt8(ascii: "<") }
        text += isInURI && byte >= 0x80 ? String(decoding: byte.percentEncoded, as: UTF8.self) : String(latin1: [byte])
      }
      return text
    }

    /// Whether all bytes are ASCII. Checks eight bytes at a time, because this runs for every field of every response.
    private static func isASCII(_ bytes: Bytes) -> Bool {
      var (seen, index): (UInt64, Int) = (0, 0)
      while index + 8 <= bytes.count {
        seen |= bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
        index += 8
      }
      while index < bytes.count {
        seen |= UInt64(bytes[index])
        index += 1
      }
      return seen & 0x8080_8080_8080_8080 == 0
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
      byte == space || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }

    private static func version(_ bytes: Bytes) -> HTTPVersion? {
      if bytes.count == 8, bytes.starts(with: "HTTP/1.1") { return .http1_1 }
      let text = text(bytes)
      return HTTPVersion(rawValue: text) ?? (text == "HTTP/2.0" ? .http2 : text == "HTTP/3.0" ? .http3 : nil)
    }
  }
#endif
