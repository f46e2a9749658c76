/// A block of IP addresses in CIDR notation, such as `10.0.0.0/8` or `fd00::/8` (RFC 4632 §3.1, RFC 4291 §2.3).
struct AddressBlock: Sendable {
  private let prefix: [UInt8]
  private let length: Int

  /// Parses a block. Address bits after the prefix are ignored. Returns `nil` if the text isn't a block.
  init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let length = DeltaSeconds.parse(parts[1]), let address = PeerAddress(String(parts[0])),
      length <= address.bytes.count * 8
    else { return nil }
    prefix = address.bytes
    self.length = length
  }

  func contains(_ address: [UInt8]) -> Bool {
    guard address.count == prefix.count else { return false }
    let whole = length / 8
    guard address[..<whole].elementsEqual(prefix[..<whole]) else { return false }
    let rest = length % 8
    return rest == 0 || (address[whole] ^ prefix[whole]) >> (8 - rest) == 0
  }
}
