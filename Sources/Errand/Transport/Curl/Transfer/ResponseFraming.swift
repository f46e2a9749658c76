#if os(Linux)
  /// The end of a response's body, by its header fields (RFC 9112 §6).
  ///
  /// libcurl reads numbers up to their first odd byte, takes the last of several lengths, and ignores codings that it does
  /// not know. Two readers of one message must not differ on its end, so what is ambiguous is refused here.
  struct ResponseFraming: Equatable {
    private(set) var contentLength: Int64?
    private(set) var isChunked = false

    /// Both fields are there: the coding counts, and the connection is not used again (RFC 9112 §6.1).
    var isAmbiguous: Bool { isChunked && contentLength != nil }

    /// The body ends with the connection.
    var isOpenEnded: Bool { !isChunked && contentLength == nil }

    /// The length of the body as it is sent; nil where chunks say it, or its end does.
    var bodyLength: Int64? { isChunked ? nil : contentLength }

    typealias Bytes = UnsafeRawBufferPointer

    /// A field that says where the body ends.
    enum Field {
      case contentLength
      case transferEncoding

      /// Nil for every other name.
      init?(named name: Bytes) {
        switch name.count {
        case 14 where matches(name, "content-length"): self = .contentLength
        case 17 where matches(name, "transfer-encoding"): self = .transferEncoding
        default: return nil
        }
      }
    }

    /// Takes the value of a field; returns the reason why it is refused.
    mutating func take(_ field: Field, _ value: Bytes) -> String? {
      switch field {
      case .contentLength: takeLength(value)
      case .transferEncoding: takeCoding(value)
      }
    }

    // RFC 9110 §8.6: a list of the same number is that number.
    private mutating func takeLength(_ value: Bytes) -> String? {
      var rest = value
      while true {
        let end = rest.position(of: UInt8(ascii: ",")) ?? rest.count
        guard let length = Self.number(rest.part(0..<end).trimmed) else {
          return "Content-Length is '\(HeadLines.excerpt(value))', which is no length"
        }
        if let contentLength, contentLength != length { return "Content-Length is \(contentLength) and \(length)" }
        contentLength = length
        guard end < rest.count else { return nil }
        rest = rest.part((end + 1)..<rest.count)
      }
    }

    private mutating func takeCoding(_ value: Bytes) -> String? {
      guard !isChunked else { return "Transfer-Encoding stands there twice" }
      guard matches(value.trimmed, "chunked") else {
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
  }

  /// True where the bytes are `lowered` in any capitals.
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
