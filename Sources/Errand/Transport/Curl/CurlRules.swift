#if os(Linux)
  /// What all requests of a transport have in common, prepared once.
  final class CurlRules: Sendable {
    let configuration: CurlTransport.Configuration
    let decodingLimits: DecodingLimits
    /// The addresses in the place of a look-up, by hosts in their one form and ports.
    let addresses: [String: String]
    /// How long an idle connection is kept, in nanoseconds.
    let idleLifetime: UInt64

    init(_ configuration: CurlTransport.Configuration) {
      self.configuration = configuration
      let addresses = configuration.addresses.map { (Self.normal($0), $1) }
      self.addresses = Dictionary(addresses, uniquingKeysWith: { $1 })
      decodingLimits = DecodingLimits(
        maximumSize: configuration.maximumDecodedSize, maximumRatio: Int64(configuration.maximumDecodingRatio))
      idleLifetime = configuration.idleLifetime.nanoseconds
    }

    private static func normal(_ hostAndPort: String) -> String {
      guard let colon = hostAndPort.lastIndex(of: ":") else { return hostAndPort }
      return HostName.normal(String(hostAndPort[..<colon])) + hostAndPort[colon...]
    }
  }
#endif
