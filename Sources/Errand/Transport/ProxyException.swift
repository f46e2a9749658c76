/// An entry in `no_proxy`: the hosts that are reached without a proxy.
struct ProxyException: Sendable {
  private enum Hosts {
    case all
    /// A host and all of its subdomains.
    case domain(String)
    case addresses(AddressBlock)
  }

  private let hosts: Hosts
  /// The port, or `nil` for every port.
  private let port: Int?

  /// Returns the entries of a list, which are separated by commas or whitespace.
  static func entries(of list: String) -> [String] {
    list.split { $0 == "," || $0.isWhitespace }.map(String.init)
  }

  /// Parses an entry. Returns `nil` if it has none of the forms listed in the guide *Choosing and configuring a transport*.
  init?(_ entry: String) {
    if entry.contains("/") {
      guard let block = AddressBlock(entry.filter { $0 != "[" && $0 != "]" }) else { return nil }
      (hosts, port) = (.addresses(block), nil)
      return
    }
    var name = entry[...]
    var port: Int?
    let isBareAddress = name.hasSuffix("]") || (!name.hasPrefix("[") && name.count { $0 == ":" } > 1)
    if !isBareAddress, let colon = name.lastIndex(of: ":") {
      guard let number = Int(name[name.index(after: colon)...]), (1...65_535).contains(number) else { return nil }
      port = number
      name = name[..<colon]
    }
    self.port = port
    if name == "*" {
      hosts = .all
      return
    }
    while name.hasPrefix(".") || name.hasPrefix("*") { name.removeFirst() }
    guard let host = try? HostName(bracketing: name) else { return nil }
    hosts = .domain(host.text)
  }

  /// Whether an origin is reached without a proxy. Host names are not resolved, so an address block matches only hosts
  /// that are IP addresses.
  func matches(_ origin: Origin) -> Bool {
    guard port == nil || port == origin.port else { return false }
    return switch hosts {
    case .all: true
    case .domain(let name): origin.host == name || origin.host.hasSuffix(".\(name)")
    case .addresses(let block): PeerAddress(origin.host).map { block.contains($0.bytes) } ?? false
    }
  }
}
