import Errand

extension MockRequestParser {
  mutating func nextHead() throws(Malformed) -> Event {
    // RFC 9112 §2.2: skip empty lines before a request line.
    while buffer[position...].starts(with: [0x0D, 0x0A]) { position += 2 }
    guard let end = try find([0x0D, 0x0A, 0x0D, 0x0A]) else { return .incomplete }
    var lines = buffer[position..<end].lines[...]
    position = end + 4
    searched = position
    var head = try Self.requestLine(lines.popFirst() ?? "")
    trailers = HTTPHeaders()
    head.headers = HTTPHeaders(try lines.map { line throws(Malformed) in try Self.field(line) })
    stage = try Self.stage(afterHead: head.headers)
    return .head(head)
  }

  /// Returns the next line of a chunked body, without its line break, or `nil` if the line is incomplete.
  mutating func nextLine() throws(Malformed) -> String? {
    guard let end = try find([0x0D, 0x0A]) else { return nil }
    defer {
      position = end + 2
      searched = position
    }
    return String(decoding: buffer[position..<end], as: UTF8.self)
  }

  /// Parses a line between chunks (RFC 9112 §7.1). Returns whether the body has ended.
  mutating func endsBody(_ line: String) throws(Malformed) -> Bool {
    switch stage {
    case .chunkSize:
      let digits = line.prefix { $0 != ";" && $0 != " " }
      guard let size = Int(digits, radix: 16), size >= 0 else { throw Malformed("invalid chunk size “\(line)”") }
      stage = size == 0 ? .trailers : .chunk(left: size)
    case .chunkEnd:
      guard line.isEmpty else { throw Malformed("chunk data longer than the chunk size") }
      stage = .chunkSize
    default:
      guard line.isEmpty else {
        let field = try Self.field(line)
        trailers.add(field.value, for: field.name)
        return false
      }
      stage = .head
      return true
    }
    return false
  }

  private mutating func find(_ mark: [UInt8]) throws(Malformed) -> Int? {
    var index = max(searched, position)
    while index + mark.count <= buffer.count {
      if buffer[index] == mark[0], buffer[index..<(index + mark.count)].elementsEqual(mark) { return index }
      index += 1
    }
    searched = index
    guard buffer.count - position <= Self.headLimit else { throw Malformed("the head exceeds \(Self.headLimit) bytes") }
    return nil
  }

  private static func requestLine(_ line: String) throws(Malformed) -> MockRequestHead {
    let parts = line.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 3, HTTPMethod(String(parts[0])).isValid, !parts[1].isEmpty,
      parts[2] == "HTTP/1.1" || parts[2] == "HTTP/1.0"
    else { throw Malformed("malformed request line “\(line)”") }
    return MockRequestHead(
      method: HTTPMethod(String(parts[0])), target: String(parts[1]), isVersion1_0: parts[2] == "HTTP/1.0")
  }

  private static func field(_ line: String) throws(Malformed) -> HTTPHeaders.Field {
    guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { throw Malformed("malformed field “\(line)”") }
    let name = HTTPHeaderName(String(line[..<colon]))
    // RFC 9112 §5.1: no whitespace between name and colon. Names with whitespace are invalid.
    guard name.isValid else { throw Malformed("malformed field “\(line)”") }
    let value = line[line.utf8.index(after: colon)...].utf8
    let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
    let trimmed = value.drop(while: isBlank)
    let end = trimmed.lastIndex { !isBlank($0) }.map(trimmed.index(after:)) ?? trimmed.startIndex
    return HTTPHeaders.Field(name, String(Substring(trimmed[..<end])))
  }

  /// Returns the stage that reads the body, depending on its framing (RFC 9112 §6.3).
  private static func stage(afterHead headers: HTTPHeaders) throws(Malformed) -> Stage {
    let length = headers[.contentLength]
    if let coding = headers[.transferEncoding] {
      // RFC 9112 §6.1: a message with both fields may be a smuggling attempt.
      guard length == nil else { throw Malformed("both Content-Length and Transfer-Encoding") }
      guard coding.lowercased() == "chunked" else { throw Malformed("unsupported Transfer-Encoding “\(coding)”") }
      return .chunkSize
    }
    guard let length else { return .content(left: 0) }
    guard let count = Int(length), count >= 0, !length.hasPrefix("+") else {
      throw Malformed("invalid Content-Length “\(length)”")
    }
    return .content(left: count)
  }
}

extension ArraySlice<UInt8> {
  fileprivate var lines: [String] {
    var lines: [String] = []
    var start = startIndex
    var index = startIndex
    while index + 1 < endIndex {
      if self[index] == 0x0D, self[index + 1] == 0x0A {
        lines.append(String(decoding: self[start..<index], as: UTF8.self))
        start = index + 2
        index += 1
      }
      index += 1
    }
    lines.append(String(decoding: self[start...], as: UTF8.self))
    return lines
  }
}
