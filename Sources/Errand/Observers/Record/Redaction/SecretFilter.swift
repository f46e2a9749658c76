/// Checks in one pass whether text contains nothing to hide: no secret name, no possible user name or password, and no
/// escape that may hide one.
///
/// It clears most recorded text about as fast as copying it. Text that it can't clear is redacted in full, even if the
/// text contains nothing to hide.
struct SecretFilter: Sendable {
  /// The number of letters and digits, plus one for other bytes.
  private static let letters = 37
  private static let skipped: UInt8 = 37
  private static let doubtful: UInt8 = 38

  /// The kind of each byte: 0 ends a name, 1 to 36 is a letter or digit, and the other values are the constants above.
  private static let kinds: [UInt8] = (0..<256).map { byte in
    switch UInt8(byte) {
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt8(byte) - UInt8(ascii: "a") + 1
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt8(byte) - UInt8(ascii: "A") + 1
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt8(byte) - UInt8(ascii: "0") + 27
    case UInt8(ascii: "-"), UInt8(ascii: "_"): skipped
    // "@" may follow a user name, "%" and "\" begin an escape, and non-ASCII letters may fold to ASCII.
    case UInt8(ascii: "@"), UInt8(ascii: "%"), UInt8(ascii: "\\"), 0, 0x80...0xFF: doubtful
    default: 0
    }
  }

  /// For each letter pair, the number of the group of secret parts that begin with the pair, or 0.
  private var groups = [UInt8](repeating: 0, count: letters * letters)
  private var parts: [[[UInt8]]] = []
  /// For each hash, whether it belongs to a secret name.
  private var hashes = [Bool](repeating: false, count: 4096)
  private var names: Set<[UInt8]> = []
  /// Whether the filter can find all of its names.
  private var isUsable = true

  init(_ names: Set<[UInt8]>, parts: [[UInt8]]) {
    for name in names {
      guard let kinds = Self.kinds(of: name), !kinds.isEmpty else {
        isUsable = false
        continue
      }
      self.names.insert(kinds)
      hashes[Self.slot(kinds.reduce(Self.seed) { Self.hash($0, $1) })] = true
    }
    for part in parts {
      guard let kinds = Self.kinds(of: part), kinds.count >= 2, self.parts.count < 250 else {
        isUsable = false
        continue
      }
      let pair = Self.pair(kinds[0], kinds[1])
      if groups[pair] == 0 {
        self.parts.append([])
        groups[pair] = UInt8(self.parts.count)
      }
      self.parts[Int(groups[pair]) - 1].append(kinds)
    }
  }

  private static func kinds(of name: [UInt8]) -> [UInt8]? {
    let kinds = name.map { Self.kinds[Int($0)] }
    return kinds.allSatisfy { $0 > 0 && $0 < letters } ? kinds : nil
  }

  private static func pair(_ first: UInt8, _ second: UInt8) -> Int { Int(first) * letters + Int(second) }

  private static let seed: UInt32 = 2_166_136_261
  private static func hash(_ hash: UInt32, _ kind: UInt8) -> UInt32 { (hash ^ UInt32(kind)) &* 16_777_619 }
  private static func slot(_ hash: UInt32) -> Int { Int((hash ^ (hash >> 15)) & 4095) }

  func clears(_ text: String) -> Bool {
    text.utf8.withContiguousStorageIfAvailable { clears(UnsafeRawBufferPointer($0)) } ?? false
  }

  func clears(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard isUsable else { return false }
    return Self.kinds.withUnsafeBufferPointer { kinds in
      groups.withUnsafeBufferPointer { groups in
        var (hash, last, start) = (Self.seed, UInt8(0), 0)
        for index in 0..<bytes.count {
          let kind = kinds[Int(bytes[index])]
          switch kind {
          case 1..<37:
            if last == 0 { start = index }
            hash = Self.hash(hash, kind)
            let group = groups[Int(last) * Self.letters + Int(kind)]
            if group > 0, hasPart(of: Int(group) - 1, bytes, from: index, kinds) { return false }
            last = kind
          case Self.skipped: break
          case Self.doubtful: return false
          default:
            if last > 0, hashes[Self.slot(hash)], isName(bytes[start..<index]) { return false }
            (hash, last) = (Self.seed, 0)
          }
        }
        return last == 0 || !hashes[Self.slot(hash)] || !isName(bytes[start...])
      }
    }
  }

  /// Whether a secret part from this group has its second letter at `index`.
  private func hasPart(
    of group: Int, _ bytes: UnsafeRawBufferPointer, from index: Int, _ kinds: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    parts[group].contains { part in
      var (index, position) = (index + 1, 2)
      while position < part.count, index < bytes.count {
        let kind = kinds[Int(bytes[index])]
        index += 1
        if kind == Self.skipped { continue }
        guard kind == part[position] else { return false }
        position += 1
      }
      return position == part.count
    }
  }

  private func isName(_ word: Slice<UnsafeRawBufferPointer>) -> Bool {
    names.contains(word.map { Self.kinds[Int($0)] }.filter { $0 < Self.skipped })
  }
}
