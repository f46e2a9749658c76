#if os(Linux)
  import ErrandFoundation

  /// Lines of a head as bytes: what the generic collections do takes several times longer a byte.
  extension UnsafeRawBufferPointer {
    /// A part of the bytes, with an index of its own.
    func part(_ range: Range<Int>) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: self[range]) }

    /// The bytes without the blanks around them.
    var trimmed: UnsafeRawBufferPointer {
      var (start, end) = (0, count)
      while start < end, Self.isBlank(self[start]) { start += 1 }
      while start < end, Self.isBlank(self[end - 1]) { end -= 1 }
      return part(start..<end)
    }

    /// The first index of a byte; nil where there is none.
    func position(of byte: UInt8) -> Int? {
      guard let baseAddress, let found = memchr(baseAddress, Int32(byte), count) else { return nil }
      return UnsafeRawPointer(found) - baseAddress
    }

    /// True where a byte is among them.
    func has(_ byte: UInt8) -> Bool { position(of: byte) != nil }

    /// True where they begin with `text`.
    func starts(with text: StaticString) -> Bool {
      guard let baseAddress, count >= text.utf8CodeUnitCount else { return false }
      return memcmp(baseAddress, text.utf8Start, text.utf8CodeUnitCount) == 0
    }

    /// True where a byte is a space or a tab.
    static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
  }
#endif
