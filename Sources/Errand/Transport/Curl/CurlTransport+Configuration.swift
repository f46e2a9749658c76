#if os(Linux)
  import ErrandFoundation

  extension CurlTransport {
    /// The settings of a transport's connections. Everything is off, or the system's, unless changed.
    public struct Configuration: Sendable {
      /// The authorities that it trusts, and its own identity.
      public var tls = TLSSettings()
      /// The version of HTTP to speak.
      public var version = HTTPVersionPreference.automatic
      /// The proxy for each request.
      public var proxies = ProxyRules.none
      /// Addresses to use in the place of a look-up: `["api.example.com:443": "10.0.0.1"]`.
      public var addresses: [String: String] = [:]
      /// The socket that every request goes to, whatever host it names; nil is TCP.
      public var unixSocket: String?
      /// The maximum number of connections to one origin; 0 is no limit.
      ///
      /// Past it, transfers wait. That is not connecting: it counts as waiting for a slot (``Timeouts/queue``), and without
      /// a limit for that, as a part of the attempt.
      public var connectionsPerOrigin = 0
      /// The time for which an idle connection is kept, counted from its last use.
      ///
      /// It is below what servers and proxies keep (nginx 75 s, many proxies 60 s), so that a request rarely meets a
      /// connection that is being closed. One that the server closes is closed at once.
      public var idleLifetime: Duration = .seconds(50)
      /// The maximum age of a connection that is used; nil is no limit.
      public var connectionLifetime: Duration?
      /// The maximum size of a packed body once it is unpacked, in bytes.
      public var maximumDecodedSize: Int64 = 16 << 30
      /// The maximum ratio of an unpacked body to its bytes on the wire, once it is larger than 16 MB.
      public var maximumDecodingRatio = 200
      /// Whether a gzip or deflate body may lack its checksum, and any compressed body may be followed by other bytes.
      ///
      /// Defaults to `false`: such a body may be truncated or damaged, and fails. Turn it on for a server that never sends it
      /// whole. A body whose content is incomplete fails either way. Trailing zeros are always ignored. At most 1 MiB may follow.
      public var lenientDecompression = false

      /// The defaults.
      public init() {}
    }
  }

  extension CurlTransport.Configuration {
    /// True where a request to `origin` may be one of many streams of a connection.
    func mayMultiplex(_ origin: Origin) -> Bool {
      switch version {
      case .automatic, .http3: origin.isSecure
      case .http1: false
      case .http2PriorKnowledge: true
      }
    }
  }

  /// The settings that all requests of a transport share, prepared once.
  final class CurlRules: Sendable {
    let configuration: CurlTransport.Configuration
    let decodingLimits: DecodingLimits
    /// The addresses in the place of a look-up, by hosts in their one form and ports.
    let addresses: [String: String]
    /// The lifetime of an idle connection, in nanoseconds.
    let idleLifetime: UInt64
    /// The authorities, where they are data and libcurl takes files alone.
    let authorities: MemoryFile?

    init(_ configuration: CurlTransport.Configuration) {
      var configuration = configuration
      // For one exchange a connection, HTTP/2 is of no use.
      let isChoice = configuration.version == .automatic || configuration.version == .http3
      if isChoice, !CurlLibrary.hasRequestCallback { configuration.version = .http1 }
      self.configuration = configuration
      let addresses = configuration.addresses.map { (Self.normal($0), $1) }
      self.addresses = Dictionary(addresses, uniquingKeysWith: { $1 })
      decodingLimits = DecodingLimits(
        maximumSize: configuration.maximumDecodedSize, maximumRatio: Int64(configuration.maximumDecodingRatio),
        isLenient: configuration.lenientDecompression)
      idleLifetime = configuration.idleLifetime.nanoseconds
      let pem: Data? = if case .pem(let data) = configuration.tls.authorities { data } else { nil }
      authorities = pem.flatMap { CurlLibrary.takesAuthorities ? nil : MemoryFile($0) }
    }

    /// True where the address that is connected to is the server's, so that it can be checked. Over a Unix socket libcurl uses no
    /// proxy.
    func mayCheckAddress(by proxy: Proxy?) -> Bool { proxy == nil || configuration.unixSocket != nil }

    private static func normal(_ hostAndPort: String) -> String {
      guard let colon = hostAndPort.lastIndex(of: ":") else { return hostAndPort }
      return HostName.normal(String(hostAndPort[..<colon])) + hostAndPort[colon...]
    }
  }
#endif
