import ErrandFoundation

/// An IPv6 address in URL syntax: in brackets, with an optional zone (RFC 6874).
struct IPv6Address: CustomStringConvertible {
  let description: String
  /// Whether the address is `::1` or an IPv4-mapped address in 127.0.0.0/8.
  let isLoopback: Bool

  init?(_ written: [UInt8]) {
    guard written.count > 2, written.last == UInt8(ascii: "]") else { return nil }
    let parts = written[1..<(written.count - 1)].split(
      separator: UInt8(ascii: "%"), maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first, !first.contains(0) else { return nil }
    let text = String(decoding: first, as: UTF8.self)
    var address = in6_addr()
    guard inet_pton(AF_INET6, text, &address) == 1 else { return nil }
    let normal = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
      inet_ntop(AF_INET6, &address, buffer.baseAddress, socklen_t(buffer.count)).map { String(cString: $0) }
    }
    guard let normal, let zone = Self.zone(parts.dropFirst().first) else { return nil }
    description = "[\(normal)\(zone)]"
    isLoopback = normal == "::1" || normal.hasPrefix("::ffff:127.")
  }

  // The zone keeps its case, because interface names are case-sensitive.
  private static func zone(_ written: ArraySlice<UInt8>?) -> String? {
    guard let written else { return "" }
    let zone = written.starts(with: Array("25".utf8)) ? written.dropFirst(2) : written
    guard !zone.isEmpty, zone.allSatisfy({ HTTPHeaderName.isTokenByte($0) && $0 != UInt8(ascii: "%") }) else {
      return nil
    }
    return "%25\(String(decoding: zone, as: UTF8.self))"
  }
}
