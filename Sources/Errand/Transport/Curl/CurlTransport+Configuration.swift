#if os(Linux)
  import ErrandFoundation

  extension CurlTransport {
    /// The settings for a transport's connections.
    public struct Configuration: Sendable {
      /// The trusted CAs, the client identity, and how the server's certificate is verified.
      public var tls = TLSSettings()
      /// The version of HTTP to use. Defaults to `.automatic`.
      public var version = HTTPVersionPreference.automatic
      /// The proxy for each request. Defaults to `.none`.
      public var proxies = ProxyRules.none
      /// Addresses to use instead of resolving host names: `["api.example.com:443": "10.0.0.1"]`. Empty by default.
      public var addresses: [String: String] = [:]
      /// The path of a Unix socket to which all requests are sent, regardless of their host. Defaults to `nil`, which
      /// means TCP.
      public var unixSocket: String?
      /// The maximum number of connections to one origin, or 0 for no limit. Defaults to 0.
      ///
      /// Transfers above the limit wait. The wait counts towards the queue timeout (``Timeouts/queue``), not the
      /// connect timeout. Without a queue timeout, it counts towards the attempt timeout.
      public var connectionsPerOrigin = 0
      /// How long an idle connection is kept after its last use. Defaults to 50 seconds.
      ///
      /// The default is below the idle timeout of most servers and proxies (75 s in nginx, 60 s in many proxies), so
      /// requests rarely use a connection that is being closed. If the server closes an idle connection, Errand closes
      /// it immediately.
      public var idleLifetime: Duration = .seconds(50)
      /// The maximum age at which a connection is still reused, or `nil` for no limit. Defaults to `nil`.
      public var connectionLifetime: Duration?
      /// The maximum size of a decompressed body, in bytes. Defaults to 16 GiB.
      public var maximumDecodedSize: Int64 = 16 << 30
      /// The maximum ratio of the decompressed size of a body to its compressed size. Checked once the decompressed
      /// body exceeds 16 MiB. Defaults to 200.
      public var maximumDecodingRatio = 200
      /// Whether to accept a gzip or deflate body without its checksum, and trailing bytes after any compressed body.
      ///
      /// Defaults to `false`: such a body may be truncated or corrupted, so reading it fails. Set it to `true` for a
      /// server that always sends such bodies. Incomplete content fails in either case. Trailing zero bytes are always
      /// ignored. At most 1 MiB may follow the compressed data.
      public var lenientDecompression = false

      /// Creates the default configuration.
      public init() {}
    }
  }

  extension CurlTransport.Configuration {
    /// Whether a request to `origin` can share a connection with other streams.
    func mayMultiplex(_ origin: Origin) -> Bool {
      switch version {
      case .automatic, .http3: origin.isSecure
      case .http1: false
      case .http2PriorKnowledge: true
      }
    }
  }

  final class CurlRules: Sendable {
    let configuration: CurlTransport.Configuration
    let decodingLimits: DecodingLimits
    let addresses: [String: String]
    /// The lifetime of an idle connection, in nanoseconds.
    let idleLifetime: UInt64
    /// A file with the CA certificates, if libcurl can't load them from memory.
    let authorities: MemoryFile?

    init(_ configuration: CurlTransport.Configuration) {
      var configuration = configuration
      // Without the request callback, every exchange uses its own connection, so HTTP/2 would have no benefit.
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

    /// Whether libcurl connects to the server directly, not through a proxy. It never uses a proxy for Unix sockets.
    func mayCheckAddress(by proxy: Proxy?) -> Bool { proxy == nil || configuration.unixSocket != nil }

    private static func normal(_ hostAndPort: String) -> String {
      guard let colon = hostAndPort.lastIndex(of: ":") else { return hostAndPort }
      return HostName.normal(String(hostAndPort[..<colon])) + hostAndPort[colon...]
    }
  }
#endif
