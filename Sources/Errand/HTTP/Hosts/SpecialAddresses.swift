/// The special-purpose addresses in IANA's two registries (RFC 6890), and addresses that don't identify a single host.
///
/// In IPv6, only 2000::/3 is allocated for public use (RFC 4291 §2.4), so addresses outside that block are not public.
/// An address that embeds an IPv4 address is classified by the IPv4 address.
enum SpecialAddresses {
  struct Block: Sendable {
    private let addresses: AddressBlock
    let purpose: String

    init?(_ text: String, _ purpose: String) {
      guard let addresses = AddressBlock(text) else { return nil }
      self.addresses = addresses
      self.purpose = purpose
    }

    func contains(_ address: [UInt8]) -> Bool { addresses.contains(address) }
  }

  /// Returns the purpose of an address, or `nil` if the address is public.
  static func purpose(of address: [UInt8]) -> String? {
    if address.count == 4 { return blocks(ofIPv4: address) }
    guard address.count == 16 else { return "not an IP address" }
    for carrier in carriers where carrier.contains(address) {
      return purpose(of: Array(address[12...])).map { "\($0), embedded in \(carrier.purpose)" }
    }
    if let block = special6.first(where: { $0.contains(address) }) { return block.purpose }
    return address[0] >> 5 == 1 ? nil : "not allocated for public use (RFC 4291 §2.4)"
  }

  private static func blocks(ofIPv4 address: [UInt8]) -> String? {
    special4.first { $0.contains(address) }?.purpose
  }

  /// IPv6 blocks whose addresses embed the destination's IPv4 address in their last four bytes.
  private static let carriers: [Block] = [
    Block("::ffff:0:0/96", "an IPv4-mapped address (RFC 4291 §2.5.5.2)"),
    Block("64:ff9b::/96", "a NAT64 address (RFC 6052 §2.1)"),
  ].compactMap(\.self)

  /// The blocks in IANA's IPv4 registry that aren't globally reachable, and three anycast and transition blocks that
  /// web servers don't use.
  private static let special4: [Block] = [
    Block("0.0.0.0/8", "an address on this network (RFC 791 §3.2)"),
    Block("10.0.0.0/8", "a private address (RFC 1918)"),
    Block("100.64.0.0/10", "a carrier-grade NAT address (RFC 6598)"),
    Block("127.0.0.0/8", "a loopback address (RFC 1122 §3.2.1.3)"),
    Block("169.254.0.0/16", "a link-local address (RFC 3927)"),
    Block("172.16.0.0/12", "a private address (RFC 1918)"),
    Block("192.0.0.0/24", "reserved for protocol assignments (RFC 6890 §2.1)"),
    Block("192.0.2.0/24", "reserved for documentation (RFC 5737)"),
    Block("192.88.99.0/24", "a 6to4 relay address (RFC 7526)"),
    Block("192.168.0.0/16", "a private address (RFC 1918)"),
    Block("198.18.0.0/15", "reserved for benchmarking (RFC 2544)"),
    Block("198.51.100.0/24", "reserved for documentation (RFC 5737)"),
    Block("203.0.113.0/24", "reserved for documentation (RFC 5737)"),
    Block("224.0.0.0/4", "a multicast address (RFC 5771)"),
    Block("240.0.0.0/4", "reserved (RFC 1112 §4)"),
  ].compactMap(\.self)

  /// The blocks in the IPv6 registry. 2001::/23 is used by Teredo (RFC 4380) and other protocols, not by web servers.
  private static let special6: [Block] = [
    Block("::/128", "the unspecified address (RFC 4291 §2.5.2)"),
    Block("::1/128", "the loopback address (RFC 4291 §2.5.3)"),
    Block("::/96", "an IPv4-compatible address (RFC 4291 §2.5.5.1)"),
    Block("64:ff9b:1::/48", "a local NAT64 address (RFC 8215)"),
    Block("100::/64", "a discard-only address (RFC 6666)"),
    Block("100:0:0:1::/64", "a dummy address (RFC 9780)"),
    Block("2001::/23", "reserved for protocol assignments (RFC 2928)"),
    Block("2001:db8::/32", "reserved for documentation (RFC 3849)"),
    Block("2002::/16", "a 6to4 address (RFC 3056)"),
    Block("3fff::/20", "reserved for documentation (RFC 9637)"),
    Block("5f00::/16", "a segment identifier (RFC 9602)"),
    Block("fc00::/7", "a unique local address (RFC 4193)"),
    Block("fe80::/10", "a link-local address (RFC 4291 §2.5.6)"),
    Block("fec0::/10", "a site-local address (RFC 3879)"),
    Block("ff00::/8", "a multicast address (RFC 4291 §2.7)"),
  ].compactMap(\.self)
}
