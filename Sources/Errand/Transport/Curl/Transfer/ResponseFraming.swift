#if os(Linux)
  /// The header fields that determine the end of a response body (RFC 9112 §6).
  ///
  /// libcurl reads numbers up to the first invalid byte, uses the last of several lengths, and ignores unknown codings.
  /// All readers of a message must agree on where it ends, so ambiguous fields are rejected here.
  struct ResponseFraming: Equatable {
    private(set) var contentLength: Int64?
    private(set) var isChunked = false

    /// Whether both fields are present. `Transfer-Encoding` takes precedence, and the connection is not reused (RFC
    /// 9112 §6.1).
    var isAmbiguous: Bool { isChunked && contentLength != nil }

    var isOpenEnded: Bool { !isChunked && contentLength == nil }

    /// The length of the body as sent, or `nil` if it is chunked or open-ended.
    var bodyLength: Int64? { isChunked ? nil : contentLength }

    typealias Bytes = UnsafeRawBufferPointer

    enum Field {
      case contentLength
      case transferEncoding

      init?(named name: Bytes) {
        switch name.count {
        case 14 where matches(name, "content-length"): self = .contentLength
        case 17 where matches(name, "transfer-encoding"): self = .transferEncoding
        default: return nil
        }
      }
    }

    /// Records a field's value. Returns the reason if the value is rejected, otherwise `nil`.
    mutating func take(_ field: Field, _ value: Bytes) -> String? {
      switch field {
      case .contentLength: takeLength(value)
      case .transferEncoding: takeCoding(value)
      }
    }

    // RFC 9110 §8.6: a list of identical numbers is valid.
    private mutating func takeLength(_ value: Bytes) -> String? {
      var rest = value
      while true {
        let end = rest.position(of: UInt8(ascii: ",")) ?? rest.count
        guard let length = Self.number(rest.part(0..<end).trimmed) else {
          return "Content-Length is '\(HeadLines.excerpt(value))', which is not a valid length"
        }
        if let contentLength, contentLength != length { return "Content-Length is both \(contentLength) and \(length)" }
        contentLength = length
        guard end < rest.count else { return nil }
        rest = rest.part((end + 1)..<rest.count)
      }
    }

    private mutating func takeCoding(_ value: Bytes) -> String? {
      guard !isChunked else { return "Transfer-Encoding is present twice" }
      guard matches(value.trimmed, "chunked") else {
        return "Transfer-Encoding is '\(HeadLines.excerpt(value))'; only 'chunked' is supported"
      }
      isChunked = true
      return nil
    }

    /// Parses a number. Accepts only digits, and only numbers below 2^63.
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
  }

  private func matches(_ bytes: UnsafeRawBufferPointer, _ lowered: StaticString) -> Bool {
    guard bytes.count == lowered.utf8CodeUnitCount else { return false }
    for index in 0..<bytes.count where bytes[index] != lowered.utf8Start[index] {
      let byte = bytes[index]
      guard byte >= UInt8(ascii: "A"), byte <= UInt8(ascii: "Z"), byte | 0x20 == lowered.utf8Start[index] else {
        return false
      }
    }
    return true
  }
#endif
