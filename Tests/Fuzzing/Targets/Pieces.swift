import ErrandFoundation

/// Bytes split in different ways. The result of a parser must not depend on how its input is split.
enum Pieces {
  /// Returns the bytes as one piece, byte by byte, and split in two pseudorandom ways that depend on the bytes.
  static func ways(_ bytes: [UInt8]) -> [[Data]] {
    let seed = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    return [
      [Data(bytes)], bytes.map { Data([$0]) }, divided(bytes, seed, longest: 5), divided(bytes, seed, longest: 40),
    ]
  }

  private static func divided(_ bytes: [UInt8], _ seed: UInt64, longest: UInt64) -> [Data] {
    var (state, index): (UInt64, Int) = (seed, 0)
    var pieces: [Data] = []
    while index < bytes.count {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let end = min(bytes.count, index + 1 + Int((state >> 33) % longest))
      pieces.append(Data(bytes[index..<end]))
      index = end
    }
    return pieces
  }
}
