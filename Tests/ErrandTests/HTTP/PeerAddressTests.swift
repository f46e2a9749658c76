import Foundation
import Testing

@testable import Errand

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

@Suite(.timeLimit(.minutes(1))) struct PeerAddressTests {
  // The first and last address of each block in the IANA IPv4 Special-Purpose Address Registry (RFC 6890 §2.2.2), and
  // of the multicast block.
  @Test(arguments: [
    ("0.0.0.0", "0.255.255.255"), ("10.0.0.0", "10.255.255.255"), ("100.64.0.0", "100.127.255.255"),
    ("127.0.0.0", "127.255.255.255"), ("169.254.0.0", "169.254.255.255"), ("172.16.0.0", "172.31.255.255"),
    ("192.0.0.0", "192.0.0.255"), ("192.0.2.0", "192.0.2.255"), ("192.88.99.0", "192.88.99.255"),
    ("192.168.0.0", "192.168.255.255"), ("198.18.0.0", "198.19.255.255"), ("198.51.100.0", "198.51.100.255"),
    ("203.0.113.0", "203.0.113.255"), ("224.0.0.0", "239.255.255.255"), ("240.0.0.0", "255.255.255.255"),
  ])
  func `RFC 6890: a special-purpose IPv4 address is not public`(first: String, last: String) throws {
    for text in [first, last] {
      let address = try #require(PeerAddress(text))
      #expect(!address.isPublic && address.description == text, "\(text)")
    }
  }

  @Test(arguments: [
    "1.0.0.0", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
    "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0", "192.0.3.0",
    "192.88.98.255", "192.88.100.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255",
    "198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255",
  ])
  func `addresses next to special-purpose IPv4 blocks are public`(text: String) throws {
    #expect(try #require(PeerAddress(text)).isPublic)
  }

  // IANA IPv6 Special-Purpose Address Registry (RFC 6890 §2.2.3). "Today's IANA allocations for global unicast are
  // limited to 2000::/3" (RFC 4291 §2.4).
  @Test(arguments: [
    "::", "::1", "::2", "::7f00:1", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "64:ff9a::1", "64:ff9b:2::1",
    "100::", "100::ffff:ffff:ffff:ffff", "100:0:0:1::1", "1fff::1", "2001::", "2001:0:53aa:64c::1", "2001:2::1",
    "2001:10::1", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
    "2002::", "2002:808:808::1", "2002:a00:1::1", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff::",
    "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "4000::", "5f00::1", "fc00::", "fd00::1",
    "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fe80::1", "febf::1", "fec0::1", "ff02::1", "ffff::1",
    // IPv4-mapped and NAT64 addresses are classified by their IPv4 address. IPv4-translated addresses are never public.
    "::ffff:10.0.0.1", "::ffff:127.0.0.1", "::ffff:169.254.169.254", "64:ff9b::10.0.0.1", "64:ff9b::127.0.0.1",
    "64:ff9b::192.0.2.1", "::ffff:0:10.0.0.1", "::ffff:0:8.8.8.8",
  ])
  func `RFC 6890: a special-purpose IPv6 address is not public`(text: String) throws {
    #expect(!(try #require(PeerAddress(text)).isPublic))
  }

  // RFC 4291 §2.4. An IPv4-mapped or NAT64 address is public if its IPv4 address is public (RFC 4291 §2.5.5.2, RFC
  // 6052 §2.1).
  @Test(arguments: [
    "2000::1", "2001:200::1", "2001:db7:ffff::1", "2001:db9::1", "2003::1", "2400:cb00::1", "2606:4700::1111",
    "2a00:1450::1", "3ffe:ffff::1", "3fff:1000::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
  ])
  func `RFC 4291 §2.4: a global unicast IPv6 address is public`(text: String) throws {
    #expect(try #require(PeerAddress(text)).isPublic)
  }

  // RFC 3986 §7.4, "Rare IP Address Formats": system routines "often allow and process a much larger set of formats
  // than those described in Section 3.2.2".
  @Test(arguments: [
    ("http://0x7f.1/", "127.0.0.1"), ("http://2130706433/", "127.0.0.1"), ("http://0177.0.0.01/", "127.0.0.1"),
    ("http://127.1/", "127.0.0.1"), ("http://0/", "0.0.0.0"), ("http://0xa9fea9fe/", "169.254.169.254"),
    ("http://[::ffff:7f00:1]/", "::ffff:127.0.0.1"), ("http://[0:0::0:1]/", "::1"),
    ("http://[fe80::1%25eth0]/", "fe80::1"),
    ("http://%31%30.0.0.1/", "10.0.0.1"),
  ])
  func `RFC 3986 §7.4: parses an unusual IP literal as the address it stands for`(url: String, address: String) throws {
    let origin = try #require(Origin(.known(url)))
    let peer = try #require(PeerAddress(origin.host, port: origin.port))
    #expect(peer.description == address && !peer.isPublic && peer.port == 80)
  }

  @Test(arguments: ["", "shop.test", "1.2.3", "256.0.0.1", "::g", "[::1", "1.2.3.4.5", "1.2.3.4:80"])
  func `rejects text that is not an address`(text: String) {
    #expect(PeerAddress(text) == nil)
  }

  @Test func `reads an address from a socket address structure`() throws {
    var four = sockaddr_in()
    four.sin_family = sa_family_t(AF_INET)
    four.sin_port = UInt16(8080).bigEndian
    four.sin_addr.s_addr = UInt32(0x0A00_0001).bigEndian
    #expect(Self.peer(of: four)?.description == "10.0.0.1" && Self.peer(of: four)?.port == 8080)
    var six = sockaddr_in6()
    six.sin6_family = sa_family_t(AF_INET6)
    six.sin6_port = UInt16(443).bigEndian
    #expect(inet_pton(AF_INET6, "fd00::1", &six.sin6_addr) == 1)
    #expect(Self.peer(of: six)?.description == "fd00::1" && Self.peer(of: six)?.port == 443)
    var unix = sockaddr_un()
    unix.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &unix.sun_path) { $0.copyBytes(from: "/run/x.socket".utf8) }
    #expect(Self.peer(of: unix)?.socketPath == "/run/x.socket" && Self.peer(of: unix)?.isPublic == false)
    six.sin6_family = 250
    #expect(Self.peer(of: six) == nil)
  }

  private static func peer<Address>(of address: Address) -> PeerAddress? {
    withUnsafeBytes(of: address) { bytes in
      bytes.baseAddress.flatMap { PeerAddress($0, size: bytes.count) }
    }
  }

  @Test func `applies the built-in and custom address policies`() throws {
    let origin = try #require(Origin(.known("https://shop.test")))
    let (near, far) = (
      try #require(PeerAddress("10.0.0.1", port: 443)), try #require(PeerAddress("8.8.8.8", port: 443))
    )
    let socket = PeerAddress(socketPath: "/run/x.socket")
    #expect(AddressPolicy.any.allows(near, for: origin) && AddressPolicy.any.allowsAll)
    #expect(!AddressPolicy.publicOnly.allows(near, for: origin) && AddressPolicy.publicOnly.allows(far, for: origin))
    #expect(!AddressPolicy.publicOnly.allows(socket, for: origin) && !AddressPolicy.publicOnly.allowsAll)
    let policy = AddressPolicy.allowing { address, origin in
      origin.host == "shop.test" && (address.isPublic || address.bytes.starts(with: [10]))
    }
    #expect(policy.allows(near, for: origin) && policy.allows(far, for: origin) && !policy.allows(socket, for: origin))
    #expect(near.specialPurpose == "a private address (RFC 1918)" && far.specialPurpose == nil)
  }
}
