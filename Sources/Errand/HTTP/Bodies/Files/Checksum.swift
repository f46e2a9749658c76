/// The XXH64 hash, for detecting corrupted data. It is faster than disk reads, but not cryptographic.
package enum Checksum {
  private static let primes: (UInt64, UInt64, UInt64, UInt64, UInt64) = (
    0x9E37_79B1_85EB_CA87, 0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9, 0x85EB_CA77_C2B2_AE63, 0x27D4_EB2F_1656_67C5
  )

  static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
    var rest = bytes
    var hash: UInt64
    if bytes.count >= 32 {
      var lanes = (seed &+ primes.0 &+ primes.1, seed &+ primes.1, seed, seed &- primes.0)
      while rest.count >= 32 {
        lanes.0 = round(lanes.0, word(rest, 0))
        lanes.1 = round(lanes.1, word(rest, 8))
        lanes.2 = round(lanes.2, word(rest, 16))
        lanes.3 = round(lanes.3, word(rest, 24))
        rest = UnsafeRawBufferPointer(rebasing: rest[32...])
      }
      hash = turned(lanes.0, 1) &+ turned(lanes.1, 7) &+ turned(lanes.2, 12) &+ turned(lanes.3, 18)
      for lane in [lanes.0, lanes.1, lanes.2, lanes.3] { hash = (hash ^ round(0, lane)) &* primes.0 &+ primes.3 }
    } else {
      hash = seed &+ primes.4
    }
    return finished(hash &+ UInt64(bytes.count), rest)
  }

  package static func of(_ text: String, seed: UInt64 = 0) -> UInt64 {
    var text = text
    return text.withUTF8 { of(UnsafeRawBufferPointer($0), seed: seed) }
  }

  private static func finished(_ start: UInt64, _ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var (hash, index) = (start, 0)
    while bytes.count - index >= 8 {
      hash = turned(hash ^ round(0, word(bytes, index)), 27) &* primes.0 &+ primes.3
      index += 8
    }
    if bytes.count - index >= 4 {
      let half = UInt64(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self)))
      hash = turned(hash ^ half &* primes.0, 23) &* primes.1 &+ primes.2
      index += 4
    }
    while index < bytes.count {
      hash = turned(hash ^ UInt64(bytes[index]) &* primes.4, 11) &* primes.0
      index += 1
    }
    hash = (hash ^ hash >> 33) &* primes.1
    hash = (hash ^ hash >> 29) &* primes.2
    return hash ^ hash >> 32
  }

  private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  private static func round(_ lane: UInt64, _ word: UInt64) -> UInt64 {
    turned(lane &+ word &* primes.1, 31) &* primes.0
  }

  private static func turned(_ word: UInt64, _ count: UInt64) -> UInt64 { word << count | word >> (64 - count) }
}

extension UInt64 {
  package var hexadecimal: String {
    let digits = String(self, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
