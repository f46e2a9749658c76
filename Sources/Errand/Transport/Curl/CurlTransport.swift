#if os(Linux)
  import CCurl
  import ErrandFoundation

  /// A transport that uses libcurl. The default on Linux.
  ///
  /// libcurl is loaded from the machine's `libcurl.so.4`, 7.76 or newer, when the first transport is created. It is not
  /// needed at build time. All transports in the process share the libcurl threads. Each transport has its own
  /// connections, which are closed after the transport is released and its transfers have ended.
  ///
  /// Up to 768 KiB of a response is buffered ahead of its reader; beyond that, the server waits. A compressed body is
  /// buffered as received and decompressed as it is read. Decompression needs an additional 64 KiB and the
  /// decompressor's window: 32 KiB for gzip and deflate, up to 16 MB for br and 8 MB for zstd. A request is sent once;
  /// see ``TransferOptions/mayRepeat`` for exceptions.
  ///
  /// `Accept-Encoding` lists the available codings: gzip and deflate if the machine has `libz.so.1`, br if it has
  /// `libbrotlidec.so.1`, zstd if it has `libzstd.so.1`. A body with another coding is returned as received, as is the
  /// response to a request that sets its own `Accept-Encoding`. A request with a `Range` asks for an uncompressed body,
  /// and the partial body is returned as received. A truncated compressed body fails with `.truncatedBody`. A
  /// compressed body that is corrupted or has trailing bytes fails with `.badResponse`.
  public final class CurlTransport: Transport {
    private let shards: [CurlShard]
    private let rules: CurlRules
    /// The credentials that replaced those of the proxies' settings, by the proxy's address.
    private let renewedCredentials = Lock<[String: Credential]>([:])
    private let http1OnlyOrigins = Lock(HTTP1OnlyOrigins())

    /// Creates a transport with its own connections.
    ///
    /// Throws ``TaskError`` with code `.transportUnavailable` if libcurl is not available, or `.secureConnectionFailed`
    /// if the CA file can't be read.
    public init(_ configuration: Configuration = Configuration()) throws(TaskError) {
      try configuration.tls.checkAuthorities()
      let loops = try CurlLoop.all.get()
      // Each loop enforces the connection limit separately, so a transport with a limit uses only one loop.
      shards = (configuration.connectionsPerOrigin > 0 ? Array(loops.prefix(1)) : loops).map { CurlShard($0) }
      rules = CurlRules(configuration)
    }

    /// Creates a transport that sends all requests through a Unix socket.
    ///
    ///     let docker = Server("http://localhost/v1.43", transport: try CurlTransport(unixSocket: "/var/run/docker.sock"))
    ///
    /// A cache identifies responses by their URL: servers with different sockets need different host names or caches.
    ///
    /// Throws ``TaskError`` like ``init(_:)``.
    public convenience init(unixSocket path: String) throws(TaskError) {
      var configuration = Configuration()
      configuration.unixSocket = path
      try self.init(configuration)
    }

    deinit {
      for shard in shards { shard.loop.push(.close(shard.group)) }
    }

    /// Sends `request` once and returns the response when its head arrives.
    ///
    /// Throws ``TaskError``, or `CancellationError` if the surrounding task is cancelled.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
      let origin = try request.checkedOrigin()
      try Task.checkCancellation()
      // libcurl doesn't use a proxy for Unix sockets.
      let proxies = rules.configuration.unixSocket == nil ? rules.configuration.proxies : .none
      if let problem = proxies.problem(for: origin) { throw problem }
      if var proxy = proxies.proxy(for: origin) {
        let renewed = request.options.proxyCredential ?? renewedCredentials.withLock { $0[proxy.address] }
        if let renewed { proxy.credential = renewed }
        if !rules.mayCheckAddress(by: proxy) { try request.options.addressPolicy.checkBehindProxy(origin, proxy) }
        return try await send(request, origin, by: proxy)
      }
      return try await response(to: request, over: makeTransfer(request, to: origin, by: nil))
    }

    /// Whether the installed libcurl supports HTTP/3, for ``HTTPVersionPreference/http3``.
    public static var offersHTTP3: Bool { CurlLibrary.offersHTTP3 }

    /// Always `true`.
    public var checksAddresses: Bool { true }

    private func send(_ request: HTTPRequest, _ origin: Origin, by proxy: Proxy) async throws -> HTTPResponse {
      do {
        let response = try await response(to: request, over: makeTransfer(request, to: origin, by: proxy))
        // Through a tunnel or a SOCKS proxy, only the origin responds, so a 407 comes from the origin.
        let isOfProxy = !origin.isSecure && proxy.kind != .socks5
        guard isOfProxy, response.status == .proxyAuthenticationRequired else {
          if let accepted = request.options.proxyCredential {
            renewedCredentials.withLock { $0[proxy.address] = accepted }
          }
          return response
        }
        response.body.cancel()
        let ways = response.headers.challenges(in: .proxyAuthenticate).map { way in
          way["realm"].map { "\(way.scheme), realm '\($0.shortened)'" } ?? way.scheme
        }
        let how = ways.isEmpty ? "" : " (\(ways.joined(separator: "; ")))"
        var error = TaskError(
          .proxyAuthenticationRequired, "the proxy \(proxy.address) requires credentials\(how)", response: response,
          phase: .awaitingResponse)
        error.wasNotSent = true
        throw error
      } catch var error as TaskError where error.code == .proxyAuthenticationRequired {
        if let renew = proxy.renewCredential {
          error.proxyRenewal = { [refused = proxy.credential] in
            let credential = await renew(refused)
            return credential == refused ? nil : credential
          }
        }
        throw error
      }
    }

    private func response(to request: HTTPRequest, over transfer: CurlTransfer) async throws -> HTTPResponse {
      transfer.loop.push(.add(transfer))
      do {
        let head = try await transfer.receivedHead()
        if let onHead = request.options.onHead, let phases = transfer.phases { onHead(phases) }
        if rules.configuration.mayMultiplex(transfer.origin) { learn(head.version, of: transfer) }
        return HTTPResponse(
          head.status, url: request.url, headers: head.headers, version: head.version,
          isConnectionReused: transfer.isConnectionReused, body: body(of: request, head, from: transfer))
      } catch {
        transfer.cancel()
        // By now, the server may support only HTTP/2.
        if !transfer.mayMultiplex, (error as? TaskError)?.code == .secureConnectionFailed {
          http1OnlyOrigins.withLock { $0.forget(transfer.origin.description) }
        }
        throw error
      }
    }

    private func body(of request: HTTPRequest, _ head: ResponseHead, from transfer: CurlTransfer) -> HTTPResponseBody {
      guard head.headers.contains(.contentEncoding), request.decompressesBody,
        let decompressing = Unpacking.of(
          head.headers, head.status, request.method, isFramed: head.version?.hasStreams ?? false, rules.decodingLimits)
      else { return HTTPResponseBody(transfer) }
      return HTTPResponseBody(DecompressedBody(transfer, decompressing))
    }

    /// Returns the number of current connections to each origin.
    public func connections() async -> [String: ConnectionCounts] {
      var counts: [String: ConnectionCounts] = [:]
      for shard in shards {
        let part = await withUnsafeContinuation { continuation in
          shard.loop.push(.count(shard.group) { continuation.resume(returning: $0) })
        }
        for (origin, count) in part { counts[origin, default: ConnectionCounts()].add(count) }
      }
      return counts
    }

    private func learn(_ version: HTTPVersion?, of transfer: CurlTransfer) {
      // A reused connection may have been opened for an exchange that offered only HTTP/1.1.
      guard transfer.mayMultiplex, !transfer.isConnectionReused, !(version?.hasStreams ?? false) else { return }
      // TCP may just have connected faster than QUIC this time.
      if rules.configuration.version == .http3, CurlLibrary.offersHTTP3 { return }
      http1OnlyOrigins.withLock { $0.learn(transfer.origin.description, at: CurlLibrary.now) }
    }

    private func mayMultiplex(_ origin: Origin) -> Bool {
      rules.configuration.mayMultiplex(origin)
        && !http1OnlyOrigins.withLock { $0.contains(origin.description, at: CurlLibrary.now) }
    }

    private func makeTransfer(_ request: HTTPRequest, to origin: Origin, by proxy: Proxy?) throws -> CurlTransfer {
      let outbox = try Self.outbox(for: request)
      let mayMultiplex = request.body.trailers == nil && mayMultiplex(origin)
      let shard = shards.next(for: origin, mayMultiplex: mayMultiplex)
      let transfer = CurlTransfer(
        request, rules, handle: try shard.pool.take(), shard: shard, origin: origin, mayMultiplex: mayMultiplex,
        outbox: outbox, addresses: rules.mayCheckAddress(by: proxy) ? request.options.addressPolicy : .any)
      do {
        try CurlRequest(request, to: origin, by: proxy, rules).apply(to: transfer)
      } catch {
        transfer.handle.plain = nil
        transfer.abandon(error)
        transfer.release()
        throw error
      }
      transfer.startReading()
      return transfer
    }

    /// Returns the body to send. If the request has no body, returns an empty one if the method expects content,
    /// otherwise `nil`.
    private static func outbox(for request: HTTPRequest) throws -> TransferOutbox? {
      if let data = request.body.data { return TransferOutbox(data) }
      if !request.body.isEmpty {
        do {
          return TransferOutbox(statedLength: try request.body.length())
        } catch {
          throw TaskError.ofTransfer(error)
        }
      }
      // RFC 9110 §8.6: if the method expects content, a request without a body still has a Content-Length.
      let expectsContent = request.method == .post || request.method == .put || request.method == .patch
      return expectsContent ? TransferOutbox(Data()) : nil
    }
  }

  /// Origins that chose HTTP/1.1 when offered HTTP/2. For a while, HTTP/2 is not offered to them, so their exchanges
  /// can be distributed over all loops.
  struct HTTP1OnlyOrigins {
    /// The maximum number of origins. At this limit, all origins are removed. Each one is added again after its next
    /// response.
    static let most = 1024

    /// How long an origin is not offered HTTP/2, in nanoseconds. Limited because the server may add support for HTTP/2.
    static let lifetime: UInt64 = 600_000_000_000

    private var origins: [String: UInt64] = [:]

    var count: Int { origins.count }

    func contains(_ origin: String, at now: UInt64) -> Bool {
      origins[origin].map { now < $0 + Self.lifetime } ?? false
    }

    mutating func forget(_ origin: String) { origins[origin] = nil }

    mutating func learn(_ origin: String, at now: UInt64) {
      if origins.count >= Self.most { origins.removeAll() }
      origins[origin] = now
    }
  }

  extension Transport where Self == CurlTransport {
    /// Creates a transport that uses libcurl.
    ///
    /// Throws ``TaskError`` with code `.transportUnavailable` if libcurl is not available.
    public static func curl(_ configuration: CurlTransport.Configuration = .init()) throws(TaskError) -> CurlTransport {
      try CurlTransport(configuration)
    }
  }
#endif
