#if os(Linux)
  /// Checks the lines of a response head. Skips interim responses, and a 417 if the request is resent.
  ///
  /// libcurl accepts lines that RFC 9112 forbids: folded lines (as separate fields), names containing whitespace, and
  /// bare CRs. If a line can be interpreted in two ways, a peer can smuggle in a field, so the head is rejected. Folded
  /// lines are joined.
  struct HeadLines {
    /// The maximum size of a head in bytes, including interim responses.
    static let largestHead = 256 << 10
    static let largestTrailer = 64 << 10

    enum Verdict: Equatable {
      case more
      case complete
      case trailer
      /// The head has ended, and libcurl resends the request.
      case answered
      case refused(String)
    }

    struct Rules {
      /// Whether a 417 is not final, because the request is resent without its expectation.
      var answers417 = false
      /// Whether the response arrived over HTTP/2 or later, in which case libcurl generated its lines.
      var isMultiplexed = false
    }

    private(set) var bytes: [UInt8] = []
    /// The status, or 0 before the status line.
    private(set) var status = 0
    private(set) var isComplete = false
    private(set) var framing = ResponseFraming()
    private var size = 0
    private var trailerSize = 0
    private var isBetween = true
    /// Whether the last head belongs to the response if no other head follows.
    private var mayStand = false
    private var isVersion1_0 = false
    private var lastIsFraming = false
    private var hasFields = false

    typealias Bytes = UnsafeRawBufferPointer

    var isUntouched: Bool { size == 0 }

    var awaitsStatus: Bool { isBetween && !isComplete }

    /// Whether the next line is the first one after a status line.
    var awaitsFirstField: Bool { !isBetween && !isComplete && !hasFields }

    mutating func take(_ line: Bytes, _ rules: Rules) -> Verdict {
      if isComplete { return takeTrailer(line) }
      size += line.count
      guard size <= Self.largestHead else { return .refused("its head is larger than \(Self.largestHead >> 10) KiB") }
      let content = Self.content(line)
      if isBetween { return takeStatus(content, rules) }
      if content.isEmpty { return takeEnd(rules) }
      if let reason = takeField(content) { return .refused(reason) }
      return .more
    }

    /// Treats a skipped 417 as the response, because no other head followed. Returns `false` if no 417 was skipped.
    mutating func completeAsItIs() -> Bool {
      guard !isComplete, isBetween, mayStand else { return false }
      isComplete = true
      return true
    }

    // MARK: Lines

    private mutating func takeStatus(_ line: Bytes, _ rules: Rules) -> Verdict {
      guard let status = Self.status(of: line, rules) else {
        return .refused("it begins with '\(Self.excerpt(line))', which is not an HTTP/1.1 status line")
      }
      self.status = status
      isVersion1_0 = line.starts(with: "HTTP/1.0")
      bytes.removeAll(keepingCapacity: true)
      bytes.reserveCapacity(960)
      framing = ResponseFraming()
      isBetween = false
      hasFields = false
      append(line)
      return .more
    }

    private mutating func takeEnd(_ rules: Rules) -> Verdict {
      appendLineEnd()
      if status == 101 { return .refused("it switches protocols, but the request did not ask for that") }
      if framing.isChunked, isVersion1_0 { return .refused("it uses HTTP/1.0, but has a Transfer-Encoding") }
      guard status < 200 || (status == 417 && rules.answers417) else {
        isComplete = true
        return .complete
      }
      isBetween = true
      mayStand = status >= 200
      return mayStand ? .answered : .more
    }

    private mutating func takeField(_ line: Bytes) -> String? {
      guard !line.has(0x0D), !line.has(0) else {
        return "a line in its head contains a bare CR or a NUL: '\(Self.excerpt(line))'"
      }
      if UnsafeRawBufferPointer.isBlank(line[0]) { return unfold(line) }
      // RFC 9112 §5.1: the name is a token, with no whitespace before the colon.
      let colon = Self.lengthOfToken(line)
      guard colon > 0, colon < line.count, line[colon] == UInt8(ascii: ":") else {
        return "its head contains an invalid line: '\(Self.excerpt(line))'"
      }
      append(line)
      hasFields = true
      let field = ResponseFraming.Field(named: line.part(0..<colon))
      lastIsFraming = field != nil
      return field.flatMap { framing.take($0, line.part((colon + 1)..<line.count)) }
    }

    /// Joins a folded line to the previous one, with a space instead of the line break (RFC 9112 §5.2).
    private mutating func unfold(_ line: Bytes) -> String? {
      guard hasFields else { return "its head begins with a folded line" }
      guard !lastIsFraming else { return "its Content-Length or Transfer-Encoding field is folded" }
      bytes.removeLast(2)
      bytes.append(UInt8(ascii: " "))
      append(line.trimmed)
      return nil
    }

    private mutating func takeTrailer(_ line: Bytes) -> Verdict {
      trailerSize += line.count
      guard trailerSize <= Self.largestTrailer else {
        return .refused("its trailer fields are larger than \(Self.largestTrailer >> 10) KiB")
      }
      let content = Self.content(line)
      guard content.isEmpty || Self.isField(content) else {
        return .refused("its trailer contains an invalid line: '\(Self.excerpt(content))'")
      }
      return .trailer
    }

    private mutating func append(_ line: Bytes) {
      bytes.append(contentsOf: line)
      appendLineEnd()
    }

    private mutating func appendLineEnd() {
      bytes.append(0x0D)
      bytes.append(0x0A)
    }

    // MARK: Status lines

    /// Returns the status code in a status line, or `nil` if the line is invalid. RFC 9112 §4: HTTP-version SP 3DIGIT
    /// SP [reason]. Without a reason phrase, the second space is often missing.
    private static func status(of line: Bytes, _ rules: Rules) -> Int? {
      let isKnown =
        rules.isMultiplexed
        ? line.starts(with: "HTTP/2 ") || line.starts(with: "HTTP/3 ")
        : line.count > 8 && line.starts(with: "HTTP/1.") && isDigit(line[7]) && line[8] == UInt8(ascii: " ")
      guard isKnown, !line.has(0x0D) else { return nil }
      let digits = line.part((rules.isMultiplexed ? 7 : 9)..<line.count)
      guard digits.count >= 3, digits[0] != UInt8(ascii: "0"), digits.count == 3 || digits[3] == UInt8(ascii: " ")
      else {
        return nil
      }
      var status = 0
      for index in 0..<3 {
        guard isDigit(digits[index]) else { return nil }
        status = status * 10 + Int(digits[index] - UInt8(ascii: "0"))
      }
      return status
    }

    // MARK: Bytes

    /// Returns the line without its line break, which is CR LF or LF alone (RFC 9112 §2.2).
    private static func content(_ line: Bytes) -> Bytes {
      var count = line.count
      if count > 0, line[count - 1] == 0x0A { count -= 1 }
      if count > 0, line[count - 1] == 0x0D { count -= 1 }
      return line.part(0..<count)
    }

    /// Returns an excerpt for error messages, with question marks for unprintable bytes.
    static func excerpt(_ bytes: Bytes) -> String {
      let text = bytes.trimmed.prefix(60).map { $0 >= 0x20 && $0 < 0x7F ? $0 : UInt8(ascii: "?") }
      return String(decoding: text, as: UTF8.self) + (bytes.count > 60 ? "…" : "")
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    /// Returns the length of the token at the start of `bytes` (RFC 9110 §5.6.2).
    private static func lengthOfToken(_ bytes: Bytes) -> Int {
      var length = 0
      while length < bytes.count, isTokenByte(bytes[length]) { length += 1 }
      return length
    }

    private static func isField(_ line: Bytes) -> Bool {
      let colon = lengthOfToken(line)
      return colon > 0 && colon < line.count && line[colon] == UInt8(ascii: ":") && !line.has(0x0D) && !line.has(0)
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      case UInt8(ascii: "!"), UInt8(ascii: "#")...UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"),
        UInt8(ascii: "."), UInt8(ascii: "^")...UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
        true
      default: false
      }
    }
  }
#endif
