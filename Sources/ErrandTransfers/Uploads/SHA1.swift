/// An incremental SHA-1 implementation (RFC 3174). It only detects corrupted data: SHA-1 is not secure.
struct SHA1 {
  private var words: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]
  private var pending: [UInt8] = []
  private var length: UInt64 = 0
  private var schedule = [UInt32](repeating: 0, count: 80)

  mutating func update(_ bytes: some Collection<UInt8>) {
    length &+= UInt64(bytes.count)
    pending += bytes
    let whole = pending.count / 64 * 64
    guard whole > 0 else { return }
    let blocks = pending
    blocks.withUnsafeBytes { raw in
      for start in stride(from: 0, to: whole, by: 64) { absorb(raw, start) }
    }
    pending.removeFirst(whole)
  }

  consuming func finish() -> [UInt8] {
    let bits = length &* 8
    let zeros = (119 - Int(length % 64)) % 64
    let end = stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bits >> UInt64($0)) }
    update([0x80] + [UInt8](repeating: 0, count: zeros) + end)
    return words.flatMap { word in stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> $0) } }
  }

  private mutating func absorb(_ bytes: UnsafeRawBufferPointer, _ start: Int) {
    for index in 0..<16 {
      schedule[index] = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: start + index * 4, as: UInt32.self))
    }
    for index in 16..<80 {
      schedule[index] = Self.turned(
        schedule[index - 3] ^ schedule[index - 8] ^ schedule[index - 14] ^ schedule[index - 16], 1)
    }
    var (a, b, c, d, e) = (words[0], words[1], words[2], words[3], words[4])
    for index in 0..<80 {
      let (mixed, constant): (UInt32, UInt32) =
        switch index {
        case ..<20: (b & c | ~b & d, 0x5A82_7999)
        case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
        case ..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
        default: (b ^ c ^ d, 0xCA62_C1D6)
        }
      let next = Self.turned(a, 5) &+ mixed &+ e &+ schedule[index] &+ constant
      (e, d, c, b, a) = (d, c, Self.turned(b, 30), a, next)
    }
    words = [words[0] &+ a, words[1] &+ b, words[2] &+ c, words[3] &+ d, words[4] &+ e]
  }

  private static func turned(_ word: UInt32, _ count: UInt32) -> UInt32 { word &<< count | word &>> (32 &- count) }
}
