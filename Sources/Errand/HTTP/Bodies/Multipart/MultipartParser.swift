import ErrandFoundation

/// Splits a multipart body into its parts (RFC 2046 §5.1.1), in linear time.
struct MultipartParser {
  enum Event: Equatable {
    case part(HTTPHeaders)
    case data(Data)
    case endOfPart
    /// The last part has ended. The rest of the body is ignored.
    case end
  }

  private enum Place {
    case preamble, head, body, epilogue
    /// After a part that ended at its `Content-Length`, before the next delimiter.
    case gap
  }

  private enum Match {
    case delimiter(end: Int, isLast: Bool)
    case none
    case unknown
  }

  /// The available bytes up to the next delimiter.
  private struct Sight {
    /// The end of the bytes that belong to the part, without the line break before the delimiter.
    var contentEnd: Int
    /// The start of a line that is a delimiter, or may become one with more bytes.
    var line: Int?
    var delimiter: (end: Int, isLast: Bool)?
  }

  private var delimiter: [UInt8]
  /// The boundary without the delimiter's two dashes, if the boundary itself begins with two dashes: some cameras
  /// include the delimiter's dashes in the boundary. `nil` after the first delimiter, which shows the actual format.
  private var bareDelimiter: [UInt8]?
  private let limits: MultipartLimits
  /// Whether the body is a stream of parts in the format of IP cameras.
  private let isPushed: Bool
  /// Whether the header being read may be a preamble, because cameras omit the first delimiter.
  private var isTentative: Bool
  private var buffer: [UInt8] = []
  /// The first byte that was not delivered.
  private var start = 0
  private var place: Place
  private var isAtLineStart = true
  private var partCount = 0
  private var bodySize = 0
  /// The `Content-Length` of the current part, or `nil` if only the next delimiter ends it.
  private var statedSize: Int?
  private var preambleSize = 0
  /// Whether anything but blank lines precedes the first delimiter.
  private var hasPreamble = false
  /// Whether the delimiter that just ended a part is the closing delimiter. `nil` in any other state.
  private var endedByLast: Bool?
  private var lines: [String] = []
  /// The number of header bytes scanned since ``start``, and the offset of the current line.
  private var headSeen = 0
  private var lineBegin = 0
  private var hasEnded = false

  init(boundary: String, limits: MultipartLimits, isPushed: Bool = false) {
    delimiter = Array("--\(boundary)".utf8)
    bareDelimiter = boundary.hasPrefix("--") ? Array(boundary.utf8) : nil
    self.limits = limits
    self.isPushed = isPushed
    isTentative = isPushed
    place = isPushed ? .head : .preamble
  }

  /// Marks the end of the body. The closing delimiter doesn't need a line break there.
  mutating func finish() { hasEnded = true }

  mutating func append(_ data: Data) {
    if place == .epilogue { return }
    buffer.removeFirst(start)
    start = 0
    buffer += data
  }

  /// Returns the next event, or `nil` if more bytes are needed. Throws ``TaskError`` with code `.badResponse` if a
  /// header is malformed or a limit is exceeded, and `.bodyTooLarge` if a part's body is too large.
  mutating func next() throws -> Event? {
    if let isLast = endedByLast {
      endedByLast = nil
      return try enter(isLast)
    }
    return switch place {
    case .preamble: try skipPreamble()
    case .head: try head()
    case .body: try body()
    case .gap: try gap()
    case .epilogue: nil
    }
  }

  var isComplete: Bool { place == .epilogue }

  // MARK: Delimiters

  /// Matches a delimiter at the start of a line. A longer line that begins with the delimiter does not match.
  private mutating func match(at index: Int) -> Match {
    var found = match(delimiter, at: index)
    if case .none = found, let bareDelimiter {
      found = match(bareDelimiter, at: index)
      if case .delimiter = found { delimiter = bareDelimiter }
    }
    if case .delimiter = found { bareDelimiter = nil }
    return found
  }

  private func match(_ delimiter: [UInt8], at index: Int) -> Match {
    var index = index
    for byte in delimiter {
      guard index < buffer.count else { return .unknown }
      guard buffer[index] == byte else { return .none }
      index += 1
    }
    var isLast = false
    if index < buffer.count, buffer[index] == UInt8(ascii: "-") {
      guard index + 1 < buffer.count else { return .unknown }
      guard buffer[index + 1] == UInt8(ascii: "-") else { return .none }
      isLast = true
      index += 2
    }
    // §5.1.1: whitespace may follow the delimiter.
    let padding = index
    while index < buffer.count, buffer[index] == UInt8(ascii: " ") || buffer[index] == UInt8(ascii: "\t") { index += 1 }
    guard index - padding <= 256 else { return .none }
    guard index < buffer.count else { return isLast && hasEnded ? .delimiter(end: index, isLast: true) : .unknown }
    if buffer[index] == UInt8(ascii: "\n") { return .delimiter(end: index + 1, isLast: isLast) }
    guard buffer[index] == UInt8(ascii: "\r") else { return .none }
    guard index + 1 < buffer.count else {
      return isLast && hasEnded ? .delimiter(end: index + 1, isLast: true) : .unknown
    }
    return buffer[index + 1] == UInt8(ascii: "\n") ? .delimiter(end: index + 2, isLast: isLast) : .none
  }

  private mutating func lookAhead() -> Sight {
    var line: Int? = isAtLineStart ? start : nil
    var search = start
    while true {
      if let line {
        // The line break before the delimiter belongs to the delimiter.
        var contentEnd = max(line - 1, start)
        if contentEnd > start, buffer[contentEnd - 1] == UInt8(ascii: "\r") { contentEnd -= 1 }
        switch match(at: line) {
        case .delimiter(let end, let isLast):
          return Sight(contentEnd: contentEnd, line: line, delimiter: (end, isLast))
        case .unknown: return Sight(contentEnd: contentEnd, line: line)
        case .none: search = line
        }
      }
      guard let feed = buffer[search...].firstIndex(of: UInt8(ascii: "\n")) else { break }
      line = feed + 1
    }
    return Sight(contentEnd: buffer.last == UInt8(ascii: "\r") ? max(buffer.count - 1, start) : buffer.count)
  }

  private mutating func enter(_ isLast: Bool) throws -> Event? {
    guard !isLast else {
      // Otherwise the text would be lost without an error.
      guard partCount > 0 || !hasPreamble else { throw Self.refusal("it contains text, but no parts") }
      place = .epilogue
      (buffer, start) = ([], 0)
      return .end
    }
    place = .head
    (lines, headSeen, lineBegin) = ([], 0, 0)
    return try head()
  }

  // MARK: Places

  private mutating func skipPreamble() throws -> Event? {
    let sight = lookAhead()
    let preamble = buffer[start..<sight.contentEnd]
    preambleSize += preamble.count
    hasPreamble = hasPreamble || preamble.contains { !" \t\r\n".utf8.contains($0) }
    guard preambleSize <= limits.headerSize else {
      throw Self.refusal(
        "its first \(limits.headerSize) bytes contain no delimiter line '\(String(decoding: delimiter, as: UTF8.self))'"
      )
    }
    guard let delimiter = sight.delimiter else {
      isAtLineStart = isAtLineStart && sight.contentEnd == start
      start = sight.contentEnd
      return nil
    }
    start = delimiter.end
    return try enter(delimiter.isLast)
  }

  private mutating func body() throws -> Event? {
    let sight = lookAhead()
    var contentEnd = sight.contentEnd
    var isStatedEnd = false
    // If a delimiter comes before the declared end, the length is wrong.
    if let statedSize, statedSize - bodySize <= (sight.line ?? buffer.count) - start {
      contentEnd = start + statedSize - bodySize
      isStatedEnd = true
    }
    if contentEnd > start {
      bodySize += contentEnd - start
      try checkBodySize()
      defer {
        start = contentEnd
        isAtLineStart = false
      }
      return .data(Data(buffer[start..<contentEnd]))
    }
    if isStatedEnd {
      place = .gap
      return .endOfPart
    }
    guard let delimiter = sight.delimiter else { return nil }
    start = delimiter.end
    endedByLast = delimiter.isLast
    return .endOfPart
  }

  private mutating func gap() throws -> Event? {
    while start < buffer.count, buffer[start] == UInt8(ascii: "\r") || buffer[start] == UInt8(ascii: "\n") {
      start += 1
    }
    switch match(at: start) {
    case .delimiter(let end, let isLast):
      start = end
      return try enter(isLast)
    case .unknown: return nil
    case .none:
      throw Self.refusal("part \(partCount) is longer than its Content-Length of \(bodySize) bytes")
    }
  }

  private func checkBodySize() throws {
    guard bodySize > limits.bodySize else { return }
    throw TaskError(
      .bodyTooLarge,
      "the body of part \(partCount) exceeds MultipartLimits.bodySize (\(limits.bodySize) bytes)",
      phase: .receiving)
  }

  private mutating func head() throws -> Event? {
    while let feed = buffer[(start + headSeen)...].firstIndex(of: UInt8(ascii: "\n")) {
      if isTentative, case .delimiter = match(at: start + lineBegin) { return try readAsPreamble() }
      let line = buffer[(start + lineBegin)..<feed]
      let text = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      headSeen = feed + 1 - start
      lineBegin = headSeen
      guard headSeen <= limits.headerSize else { break }
      if text.isEmpty {
        if isTentative, lines.isEmpty { continue }
        if isTentative, !Self.isHead(lines) { return try readAsPreamble() }
        start = feed + 1
        return try beginPart(Self.headers(lines))
      }
      let decoded = String(decoding: text, as: UTF8.self)
      lines.append(decoded.utf8.elementsEqual(text) ? decoded : String(latin1: text))
    }
    headSeen = max(headSeen, buffer.count - start)
    guard headSeen <= limits.headerSize else {
      if isTentative { return try readAsPreamble() }
      throw Self.refusal("a part's header exceeds \(limits.headerSize) bytes")
    }
    return nil
  }

  private mutating func beginPart(_ headers: HTTPHeaders) throws -> Event {
    (place, isAtLineStart, isTentative) = (.body, true, false)
    bodySize = 0
    // In other bodies, a part's Content-Length has no meaning (RFC 7578 §4.8).
    let lengths = headers.values(for: .contentLength)
    statedSize = isPushed && lengths.count == 1 ? lengths.first.flatMap { Int($0) }.flatMap { $0 < 0 ? nil : $0 } : nil
    partCount += 1
    guard partCount <= limits.parts else { throw Self.refusal("it has more than \(limits.parts) parts") }
    return .part(headers)
  }

  private mutating func readAsPreamble() throws -> Event? {
    (place, isTentative) = (.preamble, false)
    return try skipPreamble()
  }

  static func refusal(_ words: String) -> TaskError {
    TaskError(.badResponse, "can't read the multipart body: \(words)", phase: .receiving)
  }
}
