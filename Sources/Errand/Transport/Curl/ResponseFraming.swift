#if os(Linux)
  /// Where a response's body ends, by its header fields (RFC 9112 §6).
  ///
  /// libcurl reads numbers up to their first odd byte, takes the last of several lengths, and ignores codings that it does
  /// not know. Two readers of one message must not differ on its end, so what is ambiguous is refused here.
  struct ResponseFraming: Equatable {
    private(set) var contentLength: Int64?
    private(set) var isChunked = false

    /// Both fields are there: the coding counts, and the connection is not used again (RFC 9112 §6.1).
    var isAmbiguous: Bool { isChunked && contentLength != nil }

    typealias Bytes = Slice<UnsafeRawBufferPointer>

    /// Whether a field of this name says where the body ends.
    static func isNamed(_ name: Bytes) -> Bool { field(name) != nil }

    /// Takes a field; returns the reason why it is refused. Fields of other names are passed over.
    mutating func take(_ name: Bytes, _ value: Bytes) -> String? {
      switch Self.field(name) {
      case .contentLength: takeLength(value)
      case .transferEncoding: takeCoding(value)
      case nil: nil
      }
    }

    private enum Field {
      case contentLength
      case transferEncoding
    }

    private static func field(_ name: Bytes) -> Field? {
      switch name.count {
      case 14: matches(name, "content-length") ? .contentLength : nil
      case 17: matches(name, "transfer-encoding") ? .transferEncoding : nil
      default: nil
      }
    }

    // RFC 9110 §8.6: a list of the same number is that number.
    private mutating func takeLength(_ value: Bytes) -> String? {
      for part in value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
        guard let length = Self.number(HeadLines.trimmed(part)) else {
          return "Content-Length is '\(HeadLines.excerpt(value))', which is no length"
        }
        if let contentLength, contentLength != length {
          return "Content-Length is \(contentLength) and \(length)"
        }
        contentLength = length
      }
      return nil
    }

    private mutating func takeCoding(_ value: Bytes) -> String? {
      guard !isChunked else { return "Transfer-Encoding stands there twice" }
      guard Self.matches(HeadLines.trimmed(value), "chunked") else {
        return "Transfer-Encoding is '\(HeadLines.excerpt(value))'; only 'chunked' can be read"
      }
      isChunked = true
      return nil
    }

    /// Digits only, below 2^63.
    private static func number(_ digits: Bytes) -> Int64? {
      guard !digits.isEmpty else { return nil }
      var number: Int64 = 0
      for digit in digits {
        guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
        let (tens, overflows) = number.multipliedReportingOverflow(by: 10)
        let (sum, exceeds) = tens.addingReportingOverflow(Int64(digit - UInt8(ascii: "0")))
        guard !overflows, !exceeds else { return nil }
        number = sum
      }
      return number
    }

    private static func matches(_ bytes: Bytes, _ lowered: StaticString) -> Bool {
      guard bytes.count == lowered.utf8CodeUnitCount else { return false }
      return lowered.withUTF8Buffer { lowered in
        for (byte, letter) in zip(bytes, lowered) where byte != letter {
          guard byte >= UInt8(ascii: "A"), byte <= UInt8(ascii: "Z"), byte | 0x20 == letter else { return false }
        }
        return true
      }
    }
  }
#endif
