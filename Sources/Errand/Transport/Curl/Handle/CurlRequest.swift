#if os(Linux)
  import CCurl
  import Foundation

  /// Writes a request into libcurl's options.
  struct CurlRequest {
    private let request: HTTPRequest
    private let rules: CurlRules
    private let origin: Origin
    private let proxy: Proxy?

    init(_ request: HTTPRequest, to origin: Origin, by proxy: Proxy?, _ rules: CurlRules) {
      self.request = request
      self.origin = origin
      self.proxy = proxy
      self.rules = rules
    }

    private var configuration: CurlTransport.Configuration { rules.configuration }

    /// Sets the options of the transfer's handle.
    /// Throws ``TaskError`` where the library cannot do what the request's safety rests on.
    func apply(to transfer: CurlTransfer) throws {
      let easy = transfer.handle.pointer
      // Handles are used again: forget the last request, keep sessions and names. A plain request sets the same options
      // as the plain one before it, but for its address, its header and whom it calls back.
      let plain = isPlain ? self.plain(for: transfer) : nil
      if plain == nil || transfer.handle.plain != plain {
        transfer.handle.reset()
        try setRules(easy, transfer)
        try setRoute(easy, transfer)
        if origin.isSecure { try setSecurity(easy) }
        setMethod(easy, transfer)
        transfer.handle.plain = plain
      }
      setCallbacks(easy, transfer)
      let address = origin.address(of: request.url)
      if plain == nil || !transfer.handle.setParsed(address) { ccurl_easy_set_string(easy, CCOPT_URL, address) }
      setMessage(easy, transfer)
    }

    private func plain(for transfer: CurlTransfer) -> CurlHandle.Plain {
      CurlHandle.Plain(
        method: request.method, mayBeStream: transfer.mayBeStream,
        secureOrigin: origin.isSecure ? origin.description : "",
        pins: origin.isSecure ? request.options.pins.pins(for: origin.host) : nil)
    }

    /// Whether it is one of those that most requests are: no body, no proxy, nothing special.
    private var isPlain: Bool {
      proxy == nil && request.body.isEmpty && configuration.addresses.isEmpty
        && request.options.digest == nil && request.options.continueTimeout == nil && !request.options.isLongLived
        && (request.method == .get || request.method == .delete)
    }

    private func setRules(_ easy: OpaquePointer, _ transfer: CurlTransfer) throws {
      ccurl_easy_set_long(easy, CCOPT_NOSIGNAL, 1)
      // Or file:///etc/passwd would be read.
      try require(ccurl_easy_set_string(easy, CCOPT_PROTOCOLS_STR, "http,https"), "limit what a URL may name")
      ccurl_easy_set_long(easy, CCOPT_FOLLOWLOCATION, 0)
      // Or libcurl reads the environment.
      ccurl_easy_set_string(easy, CCOPT_PROXY, "")
      ccurl_easy_set_string(easy, CCOPT_NOPROXY, "")
      ccurl_easy_set_long(easy, CCOPT_SUPPRESS_CONNECT_HEADERS, 1)
      // Packed bodies are unpacked by their readers: libcurl takes one that was cut for whole.
      ccurl_easy_set_long(easy, CCOPT_HTTP_CONTENT_DECODING, 0)
      ccurl_easy_set_long(easy, CCOPT_BUFFERSIZE, request.options.isLongLived ? 256 << 10 : 64 << 10)
      ccurl_easy_set_long(easy, CCOPT_PATH_AS_IS, 1)
      // An option of another protocol, without which libcurl repeats what a pooled connection did not answer. With it, it
      // repeats nothing but a refused stream.
      ccurl_easy_set_long(easy, CCOPT_RTSP_REQUEST, Int(CC_RTSPREQ_RECEIVE))
      transfer.handle.collectRemarks()
      // The timers are the loop's own; libcurl's would answer for both with one code.
      ccurl_easy_set_long(easy, CCOPT_CONNECTTIMEOUT_MS, Int(Int32.max))
      // Or giving up a transfer whose name is being looked up waits for the look-up, and every other transfer with it.
      ccurl_easy_set_long(easy, CCOPT_QUICK_EXIT, 1)
      // A connection outlives its transfer, the loop outlives both.
      ccurl_easy_set_closesocket(
        easy,
        { data, descriptor in
          guard let data else { return 1 }
          return Unmanaged<CurlLoop>.fromOpaque(data).takeUnretainedValue().close(descriptor)
        }, Unmanaged.passUnretained(transfer.loop).toOpaque())
    }

    private func setMethod(_ easy: OpaquePointer, _ transfer: CurlTransfer) {
      if request.method == .head { ccurl_easy_set_long(easy, CCOPT_NOBODY, 1) }
      let isImplied = request.method == .head || (request.method == .get && !transfer.sendsBody)
      if !isImplied { ccurl_easy_set_string(easy, CCOPT_CUSTOMREQUEST, request.method.rawValue) }
    }

    private func setMessage(_ easy: OpaquePointer, _ transfer: CurlTransfer) {
      if transfer.sendsBody {
        ccurl_easy_set_long(easy, CCOPT_UPLOAD, 1)
        ccurl_easy_set_off(easy, CCOPT_INFILESIZE_LARGE, transfer.statedLength ?? -1)
        ccurl_easy_set_long(easy, CCOPT_UPLOAD_BUFFERSIZE, 128 << 10)
      }
      if let timeout = request.options.continueTimeout {
        ccurl_easy_set_long(easy, CCOPT_EXPECT_100_TIMEOUT_MS, max(1, Int(timeout.nanoseconds / 1_000_000)))
      }
      if let digest = request.options.digest {
        ccurl_easy_set_long(easy, CCOPT_HTTPAUTH, Int(CCAUTH_DIGEST))
        ccurl_easy_set_string(easy, CCOPT_USERNAME, digest.user)
        ccurl_easy_set_string(easy, CCOPT_PASSWORD, digest.password)
      }
      if transfer.mayBeStream { ccurl_easy_set_long(easy, CCOPT_VERBOSE, 1) }
      if transfer.mayBeStream || CurlLibrary.losesFirstField { listen(easy, transfer) }
      let list = transfer.handle.headerList(for: CurlHeaderList.Content(request, sendsBody: transfer.sendsBody))
      ccurl_easy_set_slist(easy, CCOPT_HTTPHEADER, list)
    }

    /// Has libcurl say in words what it does, where it is told to be verbose.
    private func listen(_ easy: OpaquePointer, _ transfer: CurlTransfer) {
      ccurl_easy_set_debug(
        easy,
        { _, kind, bytes, size, data in
          switch kind {
          case CCINFO_TEXT: CurlTransfer.from(data)?.listen(to: UnsafeRawBufferPointer(start: bytes, count: size))
          case CCINFO_HEADER_IN:
            CurlTransfer.from(data)?.inspect(line: UnsafeMutableRawBufferPointer(start: bytes, count: size))
          default: break
          }
          return 0
        }, Unmanaged.passUnretained(transfer).toOpaque())
    }

    private func setSecurity(_ easy: OpaquePointer) throws {
      // Wait for a connection that may carry many, rather than open one for each.
      ccurl_easy_set_long(easy, CCOPT_PIPEWAIT, 1)
      let tls = configuration.tls
      // Or the authorities that the library was built to find in a folder would be trusted besides.
      if tls.authorities != .system { ccurl_easy_set_string(easy, CCOPT_CAPATH, nil) }
      switch tls.authorities {
      case .system: break
      case .file(let url): try require(ccurl_easy_set_string(easy, CCOPT_CAINFO, url.path), "read authorities")
      case .pem(let data): try setBlob(easy, CCOPT_CAINFO_BLOB, data, "take authorities as data")
      }
      let version = Int(tls.minimumVersion == .tls1_3 ? CC_SSLVERSION_TLSv1_3 : CC_SSLVERSION_TLSv1_2)
      try require(ccurl_easy_set_long(easy, CCOPT_SSLVERSION, version), "demand a version of TLS")
      if let identity = tls.identity {
        try setBlob(easy, CCOPT_SSLCERT_BLOB, identity.certificate, "take a client's certificate as data")
        try setBlob(easy, CCOPT_SSLKEY_BLOB, identity.key, "take a client's key as data")
        if let password = identity.password { ccurl_easy_set_string(easy, CCOPT_KEYPASSWD, password) }
      }
      if let pins = request.options.pins.pins(for: origin.host) {
        // Without one that counts, what is left matches no key: fail closed.
        let list = pins.isEmpty ? "sha256//\(String(repeating: "A", count: 43))=" : Self.list(pins)
        try require(ccurl_easy_set_string(easy, CCOPT_PINNEDPUBLICKEY, list), "compare keys with pins")
        ccurl_easy_set_long(easy, CCOPT_CERTINFO, 1)
      }
      if tls.verification == .dangerouslyNone {
        ccurl_easy_set_long(easy, CCOPT_SSL_VERIFYPEER, 0)
        ccurl_easy_set_long(easy, CCOPT_SSL_VERIFYHOST, 0)
      }
    }

    private static func list(_ pins: Set<String>) -> String {
      pins.sorted().map { "sha256//\($0)" }.joined(separator: ";")
    }

    private func setBlob(_ easy: OpaquePointer, _ option: Int32, _ data: Data, _ purpose: String) throws {
      try data.withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress else { return }
        try require(ccurl_easy_set_blob(easy, option, start, bytes.count), purpose)
      }
    }

    /// Fails closed: what was not set would not be heeded.
    private func require(_ code: Int32, _ purpose: String) throws {
      guard code != CCE_OK else { return }
      throw TaskError(
        .secureConnectionFailed,
        "the machine's libcurl cannot \(purpose) (error \(code)), so nothing is sent to \(origin)",
        phase: .preparing, isSurelyNotSent: true)
    }

    private func setRoute(_ easy: OpaquePointer, _ transfer: CurlTransfer) throws {
      switch configuration.version {
      case .automatic: if origin.isSecure { ccurl_easy_set_long(easy, CCOPT_HTTP_VERSION, Int(CC_HTTP_VERSION_2TLS)) }
      case .http1: ccurl_easy_set_long(easy, CCOPT_HTTP_VERSION, Int(CC_HTTP_VERSION_1_1))
      case .http2PriorKnowledge:
        ccurl_easy_set_long(easy, CCOPT_HTTP_VERSION, Int(CC_HTTP_VERSION_2_PRIOR_KNOWLEDGE))
        ccurl_easy_set_long(easy, CCOPT_PIPEWAIT, 1)
      }
      ccurl_easy_set_long(easy, CCOPT_MAXAGE_CONN, Int(configuration.idleLifetime.components.seconds))
      if let lifetime = configuration.connectionLifetime {
        ccurl_easy_set_long(easy, CCOPT_MAXLIFETIME_CONN, max(1, Int(lifetime.components.seconds)))
      }
      if let path = configuration.unixSocket { ccurl_easy_set_string(easy, CCOPT_UNIX_SOCKET_PATH, path) }
      if let address = rules.addresses["\(origin.host):\(origin.port)"] {
        transfer.resolveList = ccurl_slist_append(nil, "\(origin.host):\(origin.port):\(address)")
        ccurl_easy_set_slist(easy, CCOPT_RESOLVE, transfer.resolveList)
      }
      guard let proxy else { return }
      ccurl_easy_set_string(easy, CCOPT_PROXY, proxy.address)
      if proxy.kind != .socks5 { transfer.proxy = proxy.address }
      if let credential = proxy.credential {
        try credential.check(for: "the proxy \(proxy.address)", isBasic: proxy.kind != .socks5)
        ccurl_easy_set_string(easy, CCOPT_PROXYUSERNAME, credential.user)
        ccurl_easy_set_string(easy, CCOPT_PROXYPASSWORD, credential.password)
        ccurl_easy_set_long(easy, CCOPT_PROXYAUTH, Int(CCAUTH_BASIC))
      }
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
      ccurl_easy_set_prereq(
        easy,
        { data, _, _, _, port in
          CurlTransfer.from(data)?.mayGo(from: port) ?? false ? CC_PREREQFUNC_OK : CC_PREREQFUNC_ABORT
        },
        data)
      ccurl_easy_set_sockopt(
        easy,
        { data, descriptor, _ in
          CurlTransfer.from(data)?.opened(descriptor)
          return CC_SOCKOPT_OK
        }, data)
      if configuration.connectionsPerOrigin > 0 {
        // It waits until a connection is being made; that begins with the name, if it begins there.
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
      // A body is sent again only where the exchange may have a second go, and from its beginning.
      ccurl_easy_set_seek(
        easy,
        { data, offset, _ in
          offset == 0 && CurlTransfer.from(data)?.rewind() ?? false ? CC_SEEKFUNC_OK : CC_SEEKFUNC_FAIL
        }, data)
    }
  }

  extension CurlTransfer {
    /// The transfer of a handle.
    static func of(_ easy: OpaquePointer) -> CurlTransfer? {
      var pointer: UnsafeMutableRawPointer?
      guard ccurl_easy_get_pointer(easy, CCINFO_PRIVATE, &pointer) == CCE_OK, let pointer else { return nil }
      return Unmanaged<CurlTransfer>.fromOpaque(pointer).takeUnretainedValue()
    }

    fileprivate static func from(_ data: UnsafeMutableRawPointer?) -> CurlTransfer? {
      data.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }
  }
#endif
