#if os(Linux)
  import CCurl
  import ErrandFoundation

  struct CurlRequest {
    let request: HTTPRequest
    let rules: CurlRules
    let origin: Origin
    let proxy: Proxy?

    init(_ request: HTTPRequest, to origin: Origin, by proxy: Proxy?, _ rules: CurlRules) {
      self.request = request
      self.origin = origin
      self.proxy = proxy
      self.rules = rules
    }

    var configuration: CurlTransport.Configuration { rules.configuration }

    /// Sets the options of the transfer's handle. Throws ``TaskError`` if libcurl rejects an option that the request's
    /// security depends on.
    func apply(to transfer: CurlTransfer) throws {
      // Handles are reused. A reset clears the last request but keeps TLS sessions and DNS results. Consecutive plain
      // requests differ only in their URL, header fields and callback data, so they need no reset.
      let plain = isPlain ? self.plain(for: transfer) : nil
      let isReset = plain == nil || transfer.handle.plain != plain
      if isReset { transfer.handle.reset(bufferSize: request.options.isLongLived ? 256 << 10 : 64 << 10) }
      let easy = transfer.handle.pointer
      if isReset {
        try setRules(easy, transfer)
        try setRoute(easy, transfer)
        if origin.isSecure { try setSecurity(easy) }
        try setMethod(easy, transfer)
        transfer.handle.plain = plain
      }
      setCallbacks(easy, transfer)
      let address = origin.address(of: request.url)
      if plain == nil || !transfer.handle.setParsed(address) { ccurl_easy_set_string(easy, CCOPT_URL, address) }
      setMessage(easy, transfer)
    }

    private func plain(for transfer: CurlTransfer) -> CurlHandle.Plain {
      CurlHandle.Plain(
        method: request.method, mayMultiplex: transfer.mayMultiplex,
        secureOrigin: origin.isSecure ? origin.description : "",
        pins: origin.isSecure ? request.options.pins.pins(for: origin.host) : nil)
    }

    private var isPlain: Bool {
      proxy == nil && request.body.isEmpty && configuration.addresses.isEmpty && request.options.addressPolicy.allowsAll
        && request.options.continueTimeout == nil && !request.options.isLongLived
        && (request.method == .get || request.method == .delete)
    }

    private func setRules(_ easy: OpaquePointer, _ transfer: CurlTransfer) throws {
      ccurl_easy_set_long(easy, CCOPT_NOSIGNAL, 1)
      // Otherwise, a URL such as file:///etc/passwd could be read.
      let limit =
        CurlLibrary.namesProtocols
        ? ccurl_easy_set_string(easy, CCOPT_PROTOCOLS_STR, "http,https")
        : ccurl_easy_set_long(easy, CCOPT_PROTOCOLS, Int(CCPROTO_HTTP | CCPROTO_HTTPS))
      try require(limit, "restrict URL schemes")
      ccurl_easy_set_long(easy, CCOPT_FOLLOWLOCATION, 0)
      // Otherwise, libcurl takes its proxies from the environment.
      ccurl_easy_set_string(easy, CCOPT_PROXY, "")
      ccurl_easy_set_string(easy, CCOPT_NOPROXY, "")
      ccurl_easy_set_long(easy, CCOPT_SUPPRESS_CONNECT_HEADERS, 1)
      // Errand decompresses bodies itself, because libcurl accepts truncated ones as complete.
      ccurl_easy_set_long(easy, CCOPT_HTTP_CONTENT_DECODING, 0)
      ccurl_easy_set_long(easy, CCOPT_PATH_AS_IS, 1)
      // Without this RTSP option, libcurl resends a request that got no response on a pooled connection. With it,
      // libcurl resends only if the stream was refused.
      ccurl_easy_set_long(easy, CCOPT_RTSP_REQUEST, Int(CC_RTSPREQ_RECEIVE))
      transfer.handle.collectRemarks()
      if !CurlLibrary.hasRequestCallback {
        ccurl_easy_set_long(easy, CCOPT_FRESH_CONNECT, 1)
        ccurl_easy_set_long(easy, CCOPT_FORBID_REUSE, 1)
      }
      // The loop has its own timers, because libcurl reports several timeouts with the same code.
      ccurl_easy_set_long(easy, CCOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
      // Otherwise, cancelling a transfer during a name lookup blocks the loop until the lookup ends.
      ccurl_easy_set_long(easy, CCOPT_QUICK_EXIT, 1)
      // Pass the loop, not the transfer: a connection outlives its transfer.
      ccurl_easy_set_closesocket(
        easy,
        { data, descriptor in
          guard let data else { return 1 }
          return Unmanaged<CurlLoop>.fromOpaque(data).takeUnretainedValue().close(descriptor)
        }, Unmanaged.passUnretained(transfer.loop).toOpaque())
    }

    /// Throws if an option could not be set, because libcurl would continue without it.
    func require(_ code: Int32, _ purpose: String) throws {
      guard code != CCE_OK else { return }
      throw TaskError(
        .secureConnectionFailed,
        "the installed libcurl cannot \(purpose) (error \(code)), so the request to \(origin) was not sent",
        phase: .preparing, wasNotSent: true)
    }

    private func setCallbacks(_ easy: OpaquePointer, _ transfer: CurlTransfer) {
      let data = Unmanaged.passUnretained(transfer).toOpaque()
      ccurl_easy_set_pointer(easy, CCOPT_PRIVATE, data)
      ccurl_easy_set_header(
        easy,
        { bytes, size, count, data in
          let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
          return CurlTransfer.from(data)?.receive(line: line) ?? false ? size * count : 0
        }, data)
      ccurl_easy_set_write(
        easy,
        { bytes, size, count, data in
          let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
          return CurlTransfer.from(data)?.receive(body: piece) ?? 0
        }, data)
      if CurlLibrary.hasRequestCallback {
        ccurl_easy_set_prereq(
          easy,
          { data, address, _, remotePort, port in
            guard let transfer = CurlTransfer.from(data) else { return CC_PREREQFUNC_ABORT }
            let isAllowed = transfer.addresses.allowsAll || transfer.mayTalk(to: address, remotePort)
            return isAllowed && transfer.maySend(from: port) ? CC_PREREQFUNC_OK : CC_PREREQFUNC_ABORT
          }, data)
      } else {
        transfer.followProgress()
      }
      if !transfer.addresses.allowsAll {
        ccurl_easy_set_opensocket(
          easy,
          { data, _, address in
            guard let transfer = CurlTransfer.from(data), let address else { return CC_SOCKET_BAD }
            return transfer.open(address)
          }, data)
      }
      ccurl_easy_set_sockopt(
        easy,
        { data, descriptor, _ in
          CurlTransfer.from(data)?.opened(descriptor)
          return CC_SOCKOPT_OK
        }, data)
      if configuration.connectionsPerOrigin > 0 {
        // The wait for a connection ends when libcurl starts to connect. Its first step is the name lookup, if one is
        // needed.
        ccurl_easy_set_resolver_start(
          easy,
          { _, _, data in
            CurlTransfer.from(data)?.connecting()
            return 0
          }, data)
      }
      guard transfer.sendsBody else { return }
      ccurl_easy_set_read(
        easy,
        { bytes, size, count, data in
          CurlTransfer.from(data)?.fill(UnsafeMutableRawBufferPointer(start: bytes, count: size * count)) ?? 0
        }, data)
      // A body is resent only if the request allows it, and always from the beginning.
      ccurl_easy_set_seek(
        easy,
        { data, offset, _ in
          offset == 0 && CurlTransfer.from(data)?.rewind() ?? false ? CC_SEEKFUNC_OK : CC_SEEKFUNC_FAIL
        }, data)
      guard request.body.trailers != nil else { return }
      ccurl_easy_set_trailer(
        easy,
        { list, data in
          CurlTransfer.from(data)?.appendTrailers(to: &list.pointee) ?? false
            ? CC_TRAILERFUNC_OK : CC_TRAILERFUNC_ABORT
        }, data)
    }
  }

  extension CurlTransfer {
    static func of(_ easy: OpaquePointer) -> CurlTransfer? {
      var pointer: UnsafeMutableRawPointer?
      guard ccurl_easy_get_pointer(easy, CCINFO_PRIVATE, &pointer) == CCE_OK, let pointer else { return nil }
      return Unmanaged<CurlTransfer>.fromOpaque(pointer).takeUnretainedValue()
    }

    static func from(_ data: UnsafeMutableRawPointer?) -> CurlTransfer? {
      data.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }
  }
#endif
