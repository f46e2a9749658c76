#if os(Linux)
  import ErrandFoundation

  /// Byte operations on the lines of a head. The generic collection methods are several times slower.
  extension UnsafeRawBufferPointer {
    /// Returns the bytes in `range`, with indices that start at 0.
    func part(_ range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: self[range]) }

    var trimmed: UnsafeRawBufferPointer {
      var (start, end) = (0, count)
      while start < end, Self.isBlank(self[start]) { start += 1 }
      while start < end, Self.isBlank(self[end - 1]) { end -= 1 }
      return part(start..<end)
    }

    func position(of byte: UInt8) -> Int? {
      guard let baseAddress, let found = memchr(baseAddress, Int32(byte), count) else { return nil }
      return UnsafeRawPointer(found) - baseAddress
    }

    func has(_ byte: UInt8) -> Bool { position(of: byte) != nil }

    func starts(with text: StaticString) -> Bool {
      guard let baseAddress, count >= text.utf8CodeUnitCount else { return false }
      return memcmp(baseAddress, text.utf8Start, text.utf8CodeUnitCount) == 0
    }

    static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
  }
#endif
