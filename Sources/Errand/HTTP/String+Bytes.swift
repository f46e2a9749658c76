import ErrandFoundation

/// Strings as the bytes that go over the wire: a view's iterator takes several times longer than their storage, and two
/// strings are equal to Swift that are not the same bytes.
extension String {
  /// Its first 200 characters and how many bytes it has, where that is more: for errors, which are lines to read.
  var shortened: String { utf8.count <= 200 ? self : "\(prefix(200))… (\(utf8.count) bytes)" }

  /// True when all its bytes as UTF-8 are `allowed`.
  @inline(__always)
  func hasOnlyBytes(where allowed: (UInt8) -> Bool) -> Bool {
    utf8.withContiguousStorageIfAvailable { $0.allSatisfy(allowed) } ?? utf8.allSatisfy(allowed)
  }

  /// True when its bytes as UTF-8 are those of `other`, compared with `areSame`.
  @inline(__always)
  func hasSameBytes(as other: String, by areSame: (UInt8, UInt8) -> Bool = { $0 == $1 }) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    let answer = utf8.withContiguousStorageIfAvailable { mine in
      other.utf8.withContiguousStorageIfAvailable { theirs in zip(mine, theirs).allSatisfy(areSame) }
    }
    return (answer ?? nil) ?? zip(utf8, other.utf8).allSatisfy(areSame)
  }
}

extension StringProtocol {
  /// The text with its percent-encoded bytes decoded; nil where a percent sign is not before two hexadecimal digits, or
  /// the bytes are no UTF-8.
  package var percentDecoded: String? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(utf8.count)
    var rest = utf8.makeIterator()
    while let byte = rest.next() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.next()?.hexadecimalDigit, let low = rest.next()?.hexadecimalDigit else { return nil }
      bytes.append(high << 4 | low)
    }
    return String(bytes: bytes, encoding: .utf8)
  }
}
