import ErrandFoundation

/// Divides a multipart body into its parts (RFC 2046 §5.1.1); pure. Each byte is looked at a bounded number of times.
struct MultipartParser {
  enum Event: Equatable {
    /// A part begins.
    case part(HTTPHeaders)
    /// Bytes of its body.
    case data(Data)
    /// It has ended.
    case endOfPart
    /// The last part has ended; what follows has no meaning.
    case end
  }

  private enum Place { case preamble, head, body, epilogue }

  /// The result of looking for a delimiter at the start of a line.
  private enum Match {
    case delimiter(end: Int, isLast: Bool)
    case none
    case unknown
  }

  private let delimiter: [UInt8]
  private let limits: MultipartLimits
  private var buffer: [UInt8] = []
  /// The first byte that was not handed over.
  private var start = 0
  private var place = Place.preamble
  /// True where the byte at ``start`` begins a line.
  private var isAtLineStart = true
  private var partCount = 0
  /// The bytes of the present part's body that were handed over.
  private var bodySize = 0
  /// True or false while a delimiter was read whose part has just ended: whether it is the last.
  private var endedByLast: Bool?
  /// The lines of the header that is being read.
  private var lines: [String] = []
  /// How much of that header was looked at, from ``start``, and where its present line begins.
  private var headSeen = 0
  private var lineBegin = 0
  private var hasEnded = false

  init(boundary: String, limits: MultipartLimits) {
    delimiter = Array("--\(boundary)".utf8)
    self.limits = limits
  }

  /// There are no more bytes: the last delimiter needs no line end behind it.
  mutating func finish() { hasEnded = true }

  mutating func append(_ data: Data) {
    if place == .epilogue { return }
    buffer.removeFirst(start)
    start = 0
    buffer += data
  }

  /// The next event; nil where more bytes are needed.
  /// Throws ``TaskError`` with code `.badResponse` for a malformed header and for what exceeds the limits, `.bodyTooLarge` for a body.
  mutating func next() throws -> Event? {
    if let isLast = endedByLast {
      endedByLast = nil
      return try enter(isLast)
    }
    return switch place {
    case .preamble: try skipPreamble()
    case .head: try head()
    case .body: try body()
    case .epilogue: nil
    }
  }

  /// True when the last delimiter was read.
  var isComplete: Bool { place == .epilogue }

  // MARK: Delimiters

  /// Looks for the delimiter at the start of a line. What is only the beginning of a longer line is none.
  private func match(at index: Int) -> Match {
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
    // §5.1.1: blanks may stand behind it.
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

  /// The end of what stands before the next delimiter, and the delimiter; nil where none is there yet.
  ///
  /// - Parameter held: Set to the end of what is surely before any delimiter.
  private func delimiterAhead(held: inout Int) -> (contentEnd: Int, end: Int, isLast: Bool)? {
    var line: Int? = isAtLineStart ? start : nil
    var search = start
    while true {
      if let line {
        // The end of the line before belongs to the delimiter.
        var contentEnd = max(line - 1, start)
        if contentEnd > start, buffer[contentEnd - 1] == UInt8(ascii: "\r") { contentEnd -= 1 }
        switch match(at: line) {
        case .delimiter(let end, let isLast): return (contentEnd, end, isLast)
        case .unknown:
          held = contentEnd
          return nil
        case .none: search = line
        }
      }
      guard let feed = buffer[search...].firstIndex(of: UInt8(ascii: "\n")) else { break }
      line = feed + 1
    }
    held = buffer.last == UInt8(ascii: "\r") ? max(buffer.count - 1, start) : buffer.count
    return nil
  }

  private mutating func enter(_ isLast: Bool) throws -> Event? {
    guard !isLast else {
      place = .epilogue
      (buffer, start) = ([], 0)
      return .end
    }
    place = .head
    (lines, headSeen, lineBegin) = ([], 0, 0)
    bodySize = 0
    partCount += 1
    guard partCount <= limits.parts else { throw Self.refusal("it has more than \(limits.parts) parts") }
    return try head()
  }

  // MARK: Places

  private mutating func skipPreamble() throws -> Event? {
    var held = start
    guard let ahead = delimiterAhead(held: &held) else {
      isAtLineStart = isAtLineStart && held == start
      start = held
      return nil
    }
    start = ahead.end
    return try enter(ahead.isLast)
  }

  private mutating func body() throws -> Event? {
    var held = start
    let ahead = delimiterAhead(held: &held)
    let contentEnd = ahead?.contentEnd ?? held
    if contentEnd > start {
      bodySize += contentEnd - start
      try checkBodySize()
      defer {
        start = contentEnd
        isAtLineStart = false
      }
      return .data(Data(buffer[start..<contentEnd]))
    }
    guard let ahead else { return nil }
    start = ahead.end
    endedByLast = ahead.isLast
    return .endOfPart
  }

  private func checkBodySize() throws {
    guard bodySize > limits.bodySize else { return }
    throw TaskError(
      .bodyTooLarge,
      "the body of part \(partCount) is larger than the \(limits.bodySize) bytes of the bodySize of MultipartLimits",
      phase: .receiving)
  }

  private mutating func head() throws -> Event? {
    while let feed = buffer[(start + headSeen)...].firstIndex(of: UInt8(ascii: "\n")) {
      let line = buffer[(start + lineBegin)..<feed]
      let text = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      headSeen = feed + 1 - start
      lineBegin = headSeen
      guard headSeen <= limits.headerSize else { break }
      if text.isEmpty {
        start = feed + 1
        place = .body
        isAtLineStart = true
        return .part(try Self.headers(lines))
      }
      lines.append(String(decoding: text, as: UTF8.self))
    }
    headSeen = max(headSeen, buffer.count - start)
    guard headSeen <= limits.headerSize else {
      throw Self.refusal("the header of a part exceeds \(limits.headerSize) bytes")
    }
    return nil
  }

  /// The fields of a part's header, folded lines joined (RFC 2045 §3, RFC 5322 §2.2.3).
  private static func headers(_ lines: [String]) throws -> HTTPHeaders {
    var fields: [HTTPHeaders.Field] = []
    for line in lines {
      // RFC 2046 §5.1: header fields as in RFC 5322, whose lines have neither.
      guard !line.utf8.contains(where: { $0 == 0x0D || $0 == 0 }) else {
        throw refusal("the header of a part has a bare CR or a NUL")
      }
      if let first = line.utf8.first, first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") {
        guard var last = fields.popLast() else { throw refusal("the header of a part begins with a folded line") }
        last.value += " " + line[...].trimmingSpaces()
        fields.append(last)
        continue
      }
      guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else {
        throw refusal("a line in the header of a part is no field")
      }
      let name = HTTPHeaderName(String(line[..<colon]))
      guard name.isValid else { throw refusal("a field in the header of a part has a name that is none") }
      fields.append(.init(name, String(line[line.utf8.index(after: colon)...].trimmingSpaces())))
    }
    return HTTPHeaders(fields)
  }

  static func refusal(_ words: String) -> TaskError {
    TaskError(.badResponse, "the multipart body cannot be read: \(words)", phase: .receiving)
  }
}
