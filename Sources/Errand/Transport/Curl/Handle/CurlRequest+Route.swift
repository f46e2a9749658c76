#if os(Linux)
  import CCurl

  extension CurlRequest {
    /// Whether HTTP/3 can be used. libcurl fails if it is requested through a proxy.
    private func mayUseQUIC(_ transfer: CurlTransfer) -> Bool {
      transfer.mayMultiplex && proxy == nil && configuration.unixSocket == nil && CurlLibrary.offersHTTP3
    }

    func setRoute(_ easy: OpaquePointer, _ transfer: CurlTransfer) throws {
      switch configuration.version {
      // Over HTTP/2 and HTTP/3, libcurl silently drops trailer fields.
      case .automatic where request.body.trailers != nil, .http3 where request.body.trailers != nil:
        ccurl_easy_set_long(easy, CCOPT_HTTP_VERSION, Int(CC_HTTP_VERSION_1_1))
        if CurlLibrary.mixesVersions, origin.isSecure {
          ccurl_easy_set_long(easy, CCOPT_FRESH_CONNECT, 1)
          transfer.forbidReuse()
        }
      case .http3 where mayUseQUIC(transfer): ccurl_easy_set_long(easy, CCOPT_HTTP_VERSION, Int(CC_HTTP_VERSION_3))
      case .automatic, .http3:
        // Only offer HTTP/2 if the transfer is set up to receive libcurl's messages about streams.
        let version = transfer.mayMultiplex ? CC_HTTP_VERSION_2TLS : CC_HTTP_VERSION_1_1
        ccurl_easy_set_long(easy, CCOPT_HTTP_VERSION, Int(version))
      case .http1: ccurl_easy_set_long(easy, CCOPT_HTTP_VERSION, Int(CC_HTTP_VERSION_1_1))
      case .http2PriorKnowledge where request.body.trailers != nil:
        throw TaskError(
          .transportUnavailable,
          "trailer fields require HTTP/1.1, but the transport is set to HTTP/2: send them as header fields, or use another transport",
          phase: .preparing, wasNotSent: true)
      case .http2PriorKnowledge where !CurlLibrary.hasRequestCallback:
        throw TaskError(
          .transportUnavailable,
          "libcurl \(CurlLibrary.version) is older than 7.80 and treats truncated HTTP/2 bodies as complete: set the transport to HTTP/1.1, or install a newer libcurl",
          phase: .preparing, wasNotSent: true)
      case .http2PriorKnowledge:
        ccurl_easy_set_long(easy, CCOPT_HTTP_VERSION, Int(CC_HTTP_VERSION_2_PRIOR_KNOWLEDGE))
        if CurlLibrary.restartsHTTP2, !origin.isSecure {
          // Use a new connection for each request, because a reused one would break. Don't let libcurl close it
          // (`FORBID_REUSE`): if it is still open after the transfer, the body is complete.
          ccurl_easy_set_long(easy, CCOPT_FRESH_CONNECT, 1)
        } else {
          ccurl_easy_set_long(easy, CCOPT_PIPEWAIT, 1)
        }
      }
      ccurl_easy_set_long(easy, CCOPT_MAXAGE_CONN, Int(configuration.idleLifetime.components.seconds))
      if let lifetime = configuration.connectionLifetime {
        ccurl_easy_set_long(easy, CCOPT_MAXLIFETIME_CONN, max(1, Int(lifetime.components.seconds)))
      }
      if let path = configuration.unixSocket {
        let code =
          path.utf8.contains(0) ? CCE_BAD_FUNCTION_ARGUMENT : ccurl_easy_set_string(easy, CCOPT_UNIX_SOCKET_PATH, path)
        try require(code, "connect to a Unix socket at '\(path)'")
      }
      if let address = rules.addresses["\(origin.host):\(origin.port)"] {
        transfer.resolveList = ccurl_slist_append(nil, "\(origin.host):\(origin.port):\(address)")
        let isSet = transfer.resolveList != nil
        try require(
          isSet ? ccurl_easy_set_slist(easy, CCOPT_RESOLVE, transfer.resolveList) : CCE_OUT_OF_MEMORY,
          "connect to \(address)")
      }
      guard let proxy else { return }
      try require(ccurl_easy_set_string(easy, CCOPT_PROXY, proxy.address), "use the proxy \(proxy.address)")
      if proxy.kind != .socks5 { transfer.proxy = proxy.address }
      if proxy.kind == .https { try setProxySecurity(easy) }
      if let credential = proxy.credential {
        try credential.check(for: "the proxy \(proxy.address)", isBasic: proxy.kind != .socks5)
        try require(ccurl_easy_set_string(easy, CCOPT_PROXYUSERNAME, credential.user), "authenticate with the proxy")
        try require(
          ccurl_easy_set_string(easy, CCOPT_PROXYPASSWORD, credential.password), "authenticate with the proxy")
        ccurl_easy_set_long(easy, CCOPT_PROXYAUTH, Int(CCAUTH_BASIC))
      }
    }
  }
#endif
