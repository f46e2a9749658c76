extension MultipartParser {
  /// Whether lines at the start of a body are a part's header, not a preamble.
  static func isHead(_ lines: [String]) -> Bool {
    guard let headers = try? headers(lines), headers.mediaType?.essence.hasPrefix("multipart/") != true else {
      return false
    }
    return headers.contains(.contentType) || headers.contains(.contentLength)
  }

  /// Parses a part's header and joins folded lines (RFC 2045 §3, RFC 5322 §2.2.3).
  static func headers(_ lines: [String]) throws -> HTTPHeaders {
    var fields: [HTTPHeaders.Field] = []
    for line in lines {
      // RFC 2046 §5.1 uses the header fields of RFC 5322, which allows neither.
      guard !line.utf8.contains(where: { $0 == 0x0D || $0 == 0 }) else {
        throw refusal("a part's header contains a bare CR or a NUL")
      }
      if let first = line.utf8.first, first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") {
        guard var last = fields.popLast() else { throw refusal("a part's header begins with a folded line") }
        last.value += " " + line[...].trimmingSpaces()
        fields.append(last)
        continue
      }
      guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else {
        throw refusal("a line in a part's header has no colon")
      }
      let name = HTTPHeaderName(String(line[..<colon]))
      guard name.isValid else { throw refusal("a field in a part's header has an invalid name") }
      fields.append(.init(name, String(line[line.utf8.index(after: colon)...].trimmingSpaces())))
    }
    return HTTPHeaders(fields)
  }
}
