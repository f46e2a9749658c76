/// The head of a response, read from its bytes: a status line and header fields (RFC 9112 §4, §5).
struct ResponseHead: Equatable {
  var status: HTTPStatus
  var version: HTTPVersion?
  var headers: HTTPHeaders

  /// Reads `bytes`; nil when they do not begin with a status line. Lines end in CRLF or LF (RFC 9112 §2.2).
  init?(_ bytes: [UInt8]) {
    let head = bytes.withUnsafeBufferPointer { bytes -> ResponseHead? in
      var lines = Lines(bytes[...])
      guard let first = lines.next(), let space = first.firstIndex(of: Self.space) else { return nil }
      let code = first[(space + 1)...].prefix { $0 != Self.space && $0 != UInt8(ascii: "\r") }
      guard code.count == 3, code.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) else { return nil }
      let number = code.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
      guard number >= 100 else { return nil }
      return ResponseHead(HTTPStatus(number), Self.version(first[..<space]), Self.fields(&lines))
    }
    guard let head else { return nil }
    self = head
  }

  private init(_ status: HTTPStatus, _ version: HTTPVersion?, _ headers: HTTPHeaders) {
    self.status = status
    self.version = version
    self.headers = headers
  }

  /// Header fields, one a line; what is no field is passed over.
  static func fields(_ bytes: [UInt8]) -> HTTPHeaders {
    bytes.withUnsafeBufferPointer { bytes in
      var lines = Lines(bytes[...])
      return fields(&lines)
    }
  }

  private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

  /// The lines of a head, without their ends.
  private struct Lines: IteratorProtocol {
    private var rest: Bytes

    init(_ bytes: Bytes) { rest = bytes }

    mutating func next() -> Bytes? {
      guard !rest.isEmpty else { return nil }
      let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
      defer { rest = rest[min(end + 1, rest.endIndex)...] }
      return rest[..<end]
    }
  }

  private static let space = UInt8(ascii: " ")

  private static func fields(_ lines: inout Lines) -> HTTPHeaders {
    var headers = HTTPHeaders()
    headers.reserve(8)
    while let line = lines.next() {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else { continue }
      headers.add(text(line[(colon + 1)...]), for: HTTPHeaderName(text(line[..<colon])))
    }
    return headers
  }

  /// The bytes as UTF-8, or as Latin-1 where they are none, without the white space around them.
  private static func text(_ bytes: Bytes) -> String {
    var bytes = bytes
    while let first = bytes.first, isSpace(first) { bytes.removeFirst() }
    while let last = bytes.last, isSpace(last) { bytes.removeLast() }
    if bytes.allSatisfy({ $0 < 0x80 }) {
      return String(unsafeUninitializedCapacity: bytes.count) { $0.initialize(from: bytes).1 }
    }
    return String(validating: UnsafeBufferPointer(rebasing: bytes), as: UTF8.self)
      ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == space || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
  }

  private static func version(_ bytes: Bytes) -> HTTPVersion? {
    if bytes.elementsEqual("HTTP/1.1".utf8) { return .http1_1 }
    let text = text(bytes)
    return HTTPVersion(rawValue: text) ?? (text == "HTTP/2.0" ? .http2 : text == "HTTP/3.0" ? .http3 : nil)
  }
}
