#if os(Linux)
  /// A libcurl debug message about HTTP/2. The information is only available as text.
  ///
  /// libcurl has no function that returns a request's stream, or the last stream in a GOAWAY. After a GOAWAY, later
  /// streams end with one of four result codes, but so do streams that the server has read. Parsing the text takes less
  /// than 1 µs per request. If a later version of libcurl changes a message, the message is ignored, and the server is
  /// assumed to have read the request.
  enum CurlDebugLine: Equatable {
    case opened(stream: UInt32)
    case goingAway(last: UInt32, error: UInt32)
    case refused

    init?(_ text: UnsafeRawBufferPointer) {
      switch text.first {
      case UInt8(ascii: "U"):  // "Using Stream ID: 1 (easy handle 0x5500)"
        // Versions before 7.84 use hexadecimal, but don't report a GOAWAY to compare the number with.
        guard let id = Self.number(in: text, after: "Using Stream ID: ", mayBeHexadecimal: true) else { return nil }
        self = .opened(stream: id)
      case UInt8(ascii: "["):  // "[HTTP/2] [1] OPENED stream for https://example.com/", since 8.1; also for HTTP/3
        guard Self.contains(text, "] OPENED stream"),
          let id = Self.number(in: text, after: "[HTTP/2] [") ?? Self.number(in: text, after: "[HTTP/3] [")
        else { return nil }
        self = .opened(stream: id)
      case UInt8(ascii: "r"):  // "recveived GOAWAY, error=0, last_stream=1"; the typo was fixed in 8.0
        guard Self.contains(text, " GOAWAY, "), let last = Self.number(in: text, after: "last_stream="),
          let error = Self.number(in: text, after: "error=")
        else { return nil }
        self = .goingAway(last: last, error: error)
      case UInt8(ascii: "R"):
        guard text.starts(with: "REFUSED_STREAM, retrying".utf8) else { return nil }
        self = .refused
      default: return nil
      }
    }

    private static func contains(_ text: UnsafeRawBufferPointer, _ words: StaticString) -> Bool {
      end(of: words, in: text) != nil
    }

    private static func number(
      in text: UnsafeRawBufferPointer, after words: StaticString, mayBeHexadecimal: Bool = false
    ) -> UInt32? {
      guard let start = end(of: words, in: text) else { return nil }
      let digits = text[start...].prefix { digit($0) < (mayBeHexadecimal ? 16 : 10) }
      guard !digits.isEmpty, digits.count <= 10 else { return nil }
      let base: UInt64 = digits.allSatisfy { digit($0) < 10 } ? 10 : 16
      return UInt32(exactly: digits.reduce(UInt64(0)) { $0 * base + digit($1) })
    }

    private static func digit(_ byte: UInt8) -> UInt64 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a")) + 10
      default: .max
      }
    }

    private static func end(of words: StaticString, in text: UnsafeRawBufferPointer) -> Int? {
      words.withUTF8Buffer { words in
        guard text.count >= words.count else { return nil }
        let start = (0...(text.count - words.count)).first { text[$0...].starts(with: words) }
        return start.map { $0 + words.count }
      }
    }
  }

  /// The stream on which a request was sent.
  struct StreamFate {
    let id: UInt32
    /// The local port, which identifies the connection among an origin's connections, or 0 if the connection has no
    /// port.
    let port: Int32
    /// Whether the server announced a graceful shutdown, but will still process this stream (RFC 9113 §6.8).
    var isLast = false
  }

  extension CurlTransfer {
    func listen(to text: UnsafeRawBufferPointer) {
      switch CurlDebugLine(text) {
      case .opened(let id):
        stream = StreamFate(id: id, port: localPort)
        // Don't wait for the response, which may never arrive.
        loop.sockets.multiplexes(socket)
        loop.carriesStreams(self)
        loop.joins(self)
      case .refused: if trustsRefusals { refuseStream() }
      case .goingAway(let last, let error): loop.goingAway(after: last, isGraceful: error == 0, heardBy: self)
      case nil: break
      }
    }
  }
#endif
