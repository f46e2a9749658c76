/// Special-purpose addresses: IANA's two registries (RFC 6890), and addresses that don't identify a single host.
///
/// In IPv6, only 2000::/3 is allocated for public use (RFC 4291 §2.4), so unknown addresses are not public. An address
/// that embeds an IPv4 address is classified by the IPv4 address.
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

  /// The purpose of an address, or `nil` if the address is public.
  static func purpose(of address: [UInt8]) -> String? {
    if address.count == 4 { return blocks(ofIPv4: address) }
    guard address.count == 16 else { return "no address" }
    for carrier in carriers where carrier.contains(address) {
      return purpose(of: Array(address[12...])).map { "\($0), in \(carrier.purpose)" }
    }
    if let block = special6.first(where: { $0.contains(address) }) { return block.purpose }
    return address[0] >> 5 == 1 ? nil : "not allocated for public use (RFC 4291 §2.4)"
  }

  private static func blocks(ofIPv4 address: [UInt8]) -> String? {
    special4.first { $0.contains(address) }?.purpose
  }

  /// IPv6 blocks that embed the IPv4 address of the destination in their last four bytes.
  private static let carriers: [Block] = [
    Block("::ffff:0:0/96", "an IPv4-mapped address (RFC 4291 §2.5.5.2)"),
    Block("64:ff9b::/96", "an address of NAT64 (RFC 6052 §2.1)"),
  ].compactMap(\.self)

  /// The blocks in IANA's IPv4 registry that aren't globally reachable, and three anycast and transition blocks that
  /// web servers don't use.
  private static let special4: [Block] = [
    Block("0.0.0.0/8", "this network (RFC 791 §3.2)"),
    Block("10.0.0.0/8", "private use (RFC 1918)"),
    Block("100.64.0.0/10", "shared by carriers (RFC 6598)"),
    Block("127.0.0.0/8", "loopback (RFC 1122 §3.2.1.3)"),
    Block("169.254.0.0/16", "link-local (RFC 3927)"),
    Block("172.16.0.0/12", "private use (RFC 1918)"),
    Block("192.0.0.0/24", "protocol assignments (RFC 6890 §2.1)"),
    Block("192.0.2.0/24", "documentation (RFC 5737)"),
    Block("192.88.99.0/24", "relays of 6to4 (RFC 7526)"),
    Block("192.168.0.0/16", "private use (RFC 1918)"),
    Block("198.18.0.0/15", "benchmarking (RFC 2544)"),
    Block("198.51.100.0/24", "documentation (RFC 5737)"),
    Block("203.0.113.0/24", "documentation (RFC 5737)"),
    Block("224.0.0.0/4", "multicast (RFC 5771)"),
    Block("240.0.0.0/4", "reserved (RFC 1112 §4)"),
  ].compactMap(\.self)

  /// The blocks in the IPv6 registry. 2001::/23 is used by Teredo (RFC 4380) and other protocols, not by web servers.
  private static let special6: [Block] = [
    Block("::/128", "unspecified (RFC 4291 §2.5.2)"),
    Block("::1/128", "loopback (RFC 4291 §2.5.3)"),
    Block("::/96", "IPv4-compatible (RFC 4291 §2.5.5.1)"),
    Block("64:ff9b:1::/48", "local NAT64 (RFC 8215)"),
    Block("100::/64", "discarded (RFC 6666)"),
    Block("100:0:0:1::/64", "a dummy (RFC 9780)"),
    Block("2001::/23", "protocol assignments (RFC 2928)"),
    Block("2001:db8::/32", "documentation (RFC 3849)"),
    Block("2002::/16", "6to4 (RFC 3056)"),
    Block("3fff::/20", "documentation (RFC 9637)"),
    Block("5f00::/16", "segments (RFC 9602)"),
    Block("fc00::/7", "unique local (RFC 4193)"),
    Block("fe80::/10", "link-local (RFC 4291 §2.5.6)"),
    Block("fec0::/10", "site-local (RFC 3879)"),
    Block("ff00::/8", "multicast (RFC 4291 §2.7)"),
  ].compactMap(\.self)
}
