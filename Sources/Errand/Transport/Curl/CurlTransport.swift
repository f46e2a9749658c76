#if os(Linux)
  import CCurl
  import ErrandFoundation

  /// Requests over libcurl: the transport on Linux.
  ///
  /// libcurl is loaded when the first transport is made, from the machine's `libcurl.so.4`, 7.76 or newer; building
  /// needs nothing of it. All transports of the process share its threads, each has its own connections, and they close
  /// with the transport once its transfers are over.
  ///
  /// A response is buffered up to 768 KiB ahead of its reader; beyond, the server waits. One that is packed lies there as it
  /// came, and is unpacked as it is read: it holds a chunk of 64 KiB and the library's window besides, of 32 KiB for gzip and
  /// deflate, up to 16 MB for br and 8 MB for zstd. A request is sent once; see ``TransferOptions/mayRepeat``.
  ///
  /// `Accept-Encoding` names what can be unpacked: gzip and deflate with the machine's `libz.so.1`, br with
  /// `libbrotlidec.so.1`, zstd with `libzstd.so.1`. A body that is packed otherwise is handed over as it came, as are one to a
  /// request with an `Accept-Encoding` of its own and the part of a body that a `Range` names, which is requested plain.
  /// One that is cut fails with `.truncatedBody`, one that is damaged or followed by other bytes with `.badResponse`.
  public final class CurlTransport: Transport {
    private let shards: [CurlShard]
    private let rules: CurlRules
    private let loneOrigins = Lock(LoneOrigins())

    /// A transport with connections of its own.
    /// Throws ``TaskError`` with code `.transportUnavailable` where libcurl cannot be had, and with `.secureConnectionFailed` for a file
    /// of authorities that cannot be read.
    public init(_ configuration: Configuration = Configuration()) throws(TaskError) {
      try configuration.tls.checkAuthorities()
      let loops = try CurlLoop.all.get()
      // A limit on connections holds within a loop, so that there may only be one.
      shards = (configuration.connectionsPerOrigin > 0 ? Array(loops.prefix(1)) : loops).map { CurlShard($0) }
      rules = CurlRules(configuration)
    }

    deinit {
      for shard in shards { shard.loop.push(.close(shard.group)) }
    }

    /// Sends `request` once and returns when the head of the response is there.
    /// Throws ``TaskError``, and `CancellationError` when the surrounding task is cancelled.
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
      let origin = try request.checkedOrigin()
      try Task.checkCancellation()
      // Over a Unix socket libcurl uses no proxy.
      let proxies = rules.configuration.unixSocket == nil ? rules.configuration.proxies : .none
      if let problem = proxies.problem(for: origin) { throw problem }
      if var proxy = proxies.proxy(for: origin) {
        if let credential = request.options.proxyCredential { proxy.credential = credential }
        if !rules.mayCheckAddress(by: proxy) { try request.options.addressPolicy.checkBehindProxy(origin, proxy) }
        return try await send(request, origin, by: proxy)
      }
      return try await response(to: request, over: makeTransfer(request, to: origin, by: nil))
    }

    /// True where the machine's libcurl speaks HTTP/3, for ``HTTPVersionPreference/http3``.
    public static var offersHTTP3: Bool { CurlLibrary.offersHTTP3 }

    /// True.
    public var checksAddresses: Bool { true }

    private func send(_ request: HTTPRequest, _ origin: Origin, by proxy: Proxy) async throws -> HTTPResponse {
      do {
        let response = try await response(to: request, over: makeTransfer(request, to: origin, by: proxy))
        // Through a tunnel or SOCKS only the origin answers, and a 407 is its own.
        let isOfProxy = !origin.isSecure && proxy.kind != .socks5
        guard isOfProxy, response.status == .proxyAuthenticationRequired else { return response }
        response.body.cancel()
        throw TaskError(
          .proxyAuthenticationRequired, "the proxy \(proxy.address) asks for credentials", phase: .awaitingResponse,
          isSurelyNotSent: true)
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
        // It may speak nothing but HTTP/2 by now.
        if !transfer.mayMultiplex, (error as? TaskError)?.code == .secureConnectionFailed {
          loneOrigins.withLock { $0.forget(transfer.origin.description) }
        }
        throw error
      }
    }

    private func body(of request: HTTPRequest, _ head: ResponseHead, from transfer: CurlTransfer) -> HTTPResponseBody {
      guard head.headers.contains(.contentEncoding), request.unpacksBody,
        let unpacking = Unpacking.of(
          head.headers, head.status, request.method, isFramed: head.version?.hasStreams ?? false, rules.decodingLimits)
      else { return HTTPResponseBody(transfer) }
      return HTTPResponseBody(UnpackedBody(transfer, unpacking))
    }

    /// The connections as they are now, by origin.
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
      // A connection that is used again may have been made for an exchange that offered HTTP/1.1 alone.
      guard transfer.mayMultiplex, !transfer.isConnectionReused, !(version?.hasStreams ?? false) else { return }
      // Over UDP it may only have been slower, for once.
      if rules.configuration.version == .http3, CurlLibrary.offersHTTP3 { return }
      loneOrigins.withLock { $0.learn(transfer.origin.description, at: CurlLibrary.now) }
    }

    private func mayMultiplex(_ origin: Origin) -> Bool {
      rules.configuration.mayMultiplex(origin)
        && !loneOrigins.withLock { $0.contains(origin.description, at: CurlLibrary.now) }
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

    /// The body to send; nil where a request of its method has none, not even an empty one.
    private static func outbox(for request: HTTPRequest) throws -> TransferOutbox? {
      if let data = request.body.data { return TransferOutbox(data) }
      if !request.body.isEmpty {
        do {
          return TransferOutbox(statedLength: try request.body.length())
        } catch {
          throw TaskError.ofTransfer(error)
        }
      }
      // RFC 9110 §8.6: methods that expect content say that there is none.
      let expectsContent = request.method == .post || request.method == .put || request.method == .patch
      return expectsContent ? TransferOutbox(Data()) : nil
    }
  }

  /// Origins that might have spoken HTTP/2 and did not: it is not offered to them for a while, and their exchanges need not be kept
  /// together.
  struct LoneOrigins {
    /// The most that are known; then all are forgotten, for each is learned again from its next answer.
    static let most = 1024

    /// The time after which an origin is offered HTTP/2 again, in nanoseconds: it may be another server by then.
    static let lifetime: UInt64 = 600_000_000_000

    /// When each was learned.
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
    /// Requests over libcurl.
    /// Throws ``TaskError`` with code `.transportUnavailable` where libcurl cannot be had.
    public static func curl(_ configuration: CurlTransport.Configuration = .init()) throws(TaskError) -> CurlTransport {
      try CurlTransport(configuration)
    }
  }
#endif
