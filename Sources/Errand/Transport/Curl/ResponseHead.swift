/// The head of a response, read from its bytes: a status line and header fields (RFC 9112 §4, §5).
struct ResponseHead: Equatable {
  var status: HTTPStatus
  var version: HTTPVersion?
  var headers: HTTPHeaders

  /// Reads `bytes`; nil when they do not begin with a status line. Lines end in CRLF or LF (RFC 9112 §2.2).
  init?(_ bytes: [UInt8]) {
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true)[...]
    guard let first = lines.popFirst() else { return nil }
    let parts = first.split(separator: UInt8(ascii: " "), maxSplits: 2)
    guard parts.count >= 2, let code = Int(Self.text(parts[1])), (100...999).contains(code) else { return nil }
    version = Self.version(Self.text(parts[0]))
    status = HTTPStatus(code)
    headers = Self.fields(lines)
  }

  /// Header fields, one a line; what is no field is passed over.
  static func fields(_ bytes: [UInt8]) -> HTTPHeaders {
    fields(bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true)[...])
  }

  private static func fields(_ lines: ArraySlice<ArraySlice<UInt8>>) -> HTTPHeaders {
    var headers = HTTPHeaders()
    headers.reserve(lines.count)
    for line in lines {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else { continue }
      headers.add(text(line[(colon + 1)...]), for: HTTPHeaderName(text(line[..<colon])))
    }
    return headers
  }

  /// The bytes as UTF-8, or as Latin-1 where they are none, without the white space around them.
  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    var bytes = bytes
    while let first = bytes.first, isSpace(first) { bytes.removeFirst() }
    while let last = bytes.last, isSpace(last) { bytes.removeLast() }
    return String(validating: bytes, as: UTF8.self)
      ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
  }

  private static func version(_ text: String) -> HTTPVersion? {
    HTTPVersion(rawValue: text) ?? (text == "HTTP/2.0" ? .http2 : text == "HTTP/3.0" ? .http3 : nil)
  }
}
