#if os(Linux) && arch(x86_64)
  import CCurl
#endif

/// SHA-256 for platforms without CryptoKit. Uses the processor's SHA instructions on Linux on x86-64, if it has them.
struct PortableSHA256 {
  private var state = State()
  private var pending: [UInt8] = []
  private var length: UInt64 = 0

  init() {}

  /// Creates a hash that never uses SHA instructions, for tests.
  init(usesInstructions: Bool) { state.usesInstructions = usesInstructions && Self.hasInstructions }

  #if os(Linux) && arch(x86_64)
    private static let hasInstructions = csha256_is_available()
  #else
    private static let hasInstructions = false
  #endif

  mutating func update(bufferPointer bytes: UnsafeRawBufferPointer) {
    length &+= UInt64(bytes.count)
    var rest = bytes[...]
    if !pending.isEmpty {
      let head = rest.prefix(64 - pending.count)
      pending += head
      rest = rest.dropFirst(head.count)
      guard pending.count == 64 else { return }
      pending.withUnsafeBytes { state.absorb($0[...]) }
      pending.removeAll(keepingCapacity: true)
    }
    let whole = rest.count / 64 * 64
    if whole > 0 { state.absorb(rest.prefix(whole)) }
    pending += rest.dropFirst(whole)
  }

  func finalize() -> [UInt8] {
    var hash = self
    let bits = length &* 8
    let zeros = (119 - Int(length % 64)) % 64
    let padding = [0x80] + [UInt8](repeating: 0, count: zeros)
    let end = stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: bits >> UInt64($0)) }
    (padding + end).withUnsafeBytes { hash.update(bufferPointer: $0) }
    return hash.state.words.flatMap { word in
      stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> $0) }
    }
  }
}

extension PortableSHA256 {
  private struct State {
    private var a: UInt32 = 0x6A09_E667
    private var b: UInt32 = 0xBB67_AE85
    private var c: UInt32 = 0x3C6E_F372
    private var d: UInt32 = 0xA54F_F53A
    private var e: UInt32 = 0x510E_527F
    private var f: UInt32 = 0x9B05_688C
    private var g: UInt32 = 0x1F83_D9AB
    private var h: UInt32 = 0x5BE0_CD19
    var usesInstructions = PortableSHA256.hasInstructions

    var words: [UInt32] { [a, b, c, d, e, f, g, h] }

    mutating func absorb(_ blocks: Slice<UnsafeRawBufferPointer>) {
      #if os(Linux) && arch(x86_64)
        if usesInstructions {
          let bytes = UnsafeRawBufferPointer(rebasing: blocks)
          return withUnsafeMutableBytes(of: &self) { state in
            guard let words = state.baseAddress, let start = bytes.baseAddress else { return }
            csha256_absorb(words, PortableSHA256.constants, start, bytes.count / 64)
          }
        }
      #endif
      PortableSHA256.constants.withUnsafeBufferPointer { constants in
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { words in
          let bytes = UnsafeRawBufferPointer(rebasing: blocks)
          for start in stride(from: 0, to: bytes.count, by: 64) {
            Self.schedule(bytes, start, words)
            mix(words, constants)
          }
        }
      }
    }

    @inline(__always)
    private static func schedule(
      _ bytes: UnsafeRawBufferPointer, _ start: Int, _ words: UnsafeMutableBufferPointer<UInt32>
    ) {
      for index in 0..<16 {
        words[index] = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: start + index * 4, as: UInt32.self))
      }
      for index in 16..<64 {
        let (x, y) = (words[index - 15], words[index - 2])
        let s0 = turned(x, 7) ^ turned(x, 18) ^ x >> 3
        let s1 = turned(y, 17) ^ turned(y, 19) ^ y >> 10
        words[index] = words[index - 16] &+ s0 &+ words[index - 7] &+ s1
      }
    }

    @inline(__always)
    private mutating func mix(
      _ words: UnsafeMutableBufferPointer<UInt32>, _ constants: UnsafeBufferPointer<UInt32>
    ) {
      let old = self
      for index in 0..<64 {
        let choice = e & f ^ ~e & g
        let majority = a & b ^ a & c ^ b & c
        let sum1 = Self.turned(e, 6) ^ Self.turned(e, 11) ^ Self.turned(e, 25)
        let sum0 = Self.turned(a, 2) ^ Self.turned(a, 13) ^ Self.turned(a, 22)
        let first = h &+ sum1 &+ choice &+ constants[index] &+ words[index]
        (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ sum0 &+ majority)
      }
      (a, b, c, d) = (a &+ old.a, b &+ old.b, c &+ old.c, d &+ old.d)
      (e, f, g, h) = (e &+ old.e, f &+ old.f, g &+ old.g, h &+ old.h)
    }

    @inline(__always)
    private static func turned(_ word: UInt32, _ count: UInt32) -> UInt32 { word &>> count | word &<< (32 &- count) }
  }

  fileprivate static let constants: [UInt32] = [
    0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
    0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
    0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
    0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
    0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
    0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
    0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
    0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
  ]
}
