/// The name of a ``DiskCache`` file: hashes of the URL and the credential, a random number, and the kind of file.
///
///     8e3b0c77f5f4a1d2-0000000000000000-51c3e90a8d7f6b24          a response
///     8e3b0c77f5f4a1d2-0000000000000000-51c3e90a8d7f6b24.head     its header, after a validation
///     8e3b0c77f5f4a1d2-0000000000000000-51c3e90a8d7f6b24.part     an incomplete response
struct DiskName: Hashable {
  enum Kind: String {
    case entry = ""
    case head = ".head"
    case part = ".part"
    case headPart = ".hart"
  }

  let url: UInt64
  let credential: UInt64
  let number: UInt64
  let kind: Kind

  init(_ key: CacheKey, number: UInt64) {
    url = Self.hash(ofURL: key.url)
    credential = key.credential.isEmpty ? 0 : Checksum.of(key.credential)
    self.number = number
    kind = .entry
  }

  private init(_ other: DiskName, _ kind: Kind) {
    (url, credential, number) = (other.url, other.credential, other.number)
    self.kind = kind
  }

  static func hash(ofURL url: String) -> UInt64 { Checksum.of(url) }

  func of(_ kind: Kind) -> DiskName { DiskName(self, kind) }

  /// Whether two files belong to the same key.
  func isOf(_ other: DiskName) -> Bool { url == other.url && credential == other.credential }

  var text: String { "\(url.hexadecimal)-\(credential.hexadecimal)-\(number.hexadecimal)\(kind.rawValue)" }

  /// Parses a file name. Returns `nil` if it is not the name of a cache file.
  init?(_ name: UnsafePointer<CChar>) {
    var bytes = UnsafeRawBufferPointer(start: name, count: 56).prefix { $0 != 0 }
    guard let url = Self.number(&bytes), bytes.popFirst() == UInt8(ascii: "-"), let credential = Self.number(&bytes),
      bytes.popFirst() == UInt8(ascii: "-"), let number = Self.number(&bytes),
      let kind = bytes.isEmpty ? .entry : Kind(rawValue: String(decoding: bytes, as: UTF8.self))
    else { return nil }
    (self.url, self.credential, self.number, self.kind) = (url, credential, number, kind)
  }

  private static func number(_ bytes: inout Slice<UnsafeRawBufferPointer>) -> UInt64? {
    var number: UInt64 = 0
    for _ in 0..<16 {
      guard let byte = bytes.popFirst() else { return nil }
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(byte - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
      default: return nil
      }
    }
    return number
  }
}
