#if os(Linux)
  import CCurl
  import ErrandFoundation

  struct CurlFacts {
    private let handle: CurlHandle
    private let sendCount: Int
    private let wasNotSent: Bool

    init(_ handle: CurlHandle, sendCount: Int, wasNotSent: Bool) {
      self.handle = handle
      self.sendCount = sendCount
      self.wasNotSent = wasNotSent
    }

    private var easy: OpaquePointer { handle.pointer }

    var version: HTTPVersion? {
      switch Int32(long(CCINFO_HTTP_VERSION)) {
      case CC_HTTP_VERSION_1_0: .http1_0
      case CC_HTTP_VERSION_1_1: .http1_1
      case CC_HTTP_VERSION_2_0: .http2
      case CC_HTTP_VERSION_3: .http3
      default: nil
      }
    }

    /// Returns the timings of the transfer. `firstByte` is the time at which the final response began, or zero if it
    /// has not begun. libcurl's own value is wrong for a request with a body: it is the time when sending began.
    func timings(handedOn bytes: Int64, firstByte: Duration) -> TransferTimings {
      var timings = TransferTimings.Parts()
      timings.nameLookup = duration(CCINFO_NAMELOOKUP_TIME_T)
      timings.connect = duration(CCINFO_CONNECT_TIME_T)
      timings.secureConnect = duration(CCINFO_APPCONNECT_TIME_T)
      timings.requestStart = duration(CCINFO_PRETRANSFER_TIME_T)
      // `firstByte` can be compared with libcurl's times, because both clocks start in the same loop iteration.
      timings.firstByte = firstByte > .zero ? max(firstByte, timings.requestStart) : .zero
      timings.lastByte = max(duration(CCINFO_TOTAL_TIME_T), timings.firstByte)
      timings.bytesSent = Int64(long(CCINFO_REQUEST_SIZE)) + off(CCINFO_SIZE_UPLOAD_T)
      timings.bytesReceived = Int64(long(CCINFO_HEADER_SIZE)) + off(CCINFO_SIZE_DOWNLOAD_T)
      timings.wasResent = sendCount > 1
      timings.remoteAddress = remoteAddress
      timings.remotePort = long(CCINFO_PRIMARY_PORT)
      timings.bytesDecoded = bytes
      return TransferTimings(timings)
    }

    func failure(
      _ code: Int32, phase: TaskError.Phase, hasBegun: Bool, isShared: Bool, bodyFailure: (any Error)?,
      authorities: TLSSettings.Authorities, socketPath: String?
    ) -> any Error {
      if let bodyFailure { return TaskError.ofTransfer(bodyFailure) }
      if long(CCINFO_HTTP_CONNECTCODE) == 407 {
        var error = lackOfCredentials
        error.status = .proxyAuthenticationRequired
        return error
      }
      if code == CCE_PROXY, [CCPX_NO_AUTH, CCPX_USER_REJECTED].contains(Int32(long(CCINFO_PROXY_ERROR))) {
        return lackOfCredentials
      }
      if sendCount == 0, let error = tunnelFailure { return error }
      let failure = CurlFailure(
        code, remark: handle.remark, words: String(cString: ccurl_easy_strerror(code)),
        CurlFailure.Circumstances(
          phase: phase, isSent: sendCount > 0, hasBegun: hasBegun, isRefused: wasNotSent && sendCount > 0,
          isShared: isShared,
          lackOfAuthorities: authorities == .system ? CurlLibrary.lackOfAuthorities : nil,
          trustsSystem: authorities == .system))
      // libcurl keeps the last error number in the handle, even if it is unrelated to this failure.
      let number = phase == .connecting ? long(CCINFO_OS_ERRNO) : 0
      var reason = number != 0 ? failure.reason(String(cString: strerror(Int32(number)))) : failure.reason
      // libcurl's message names the URL's host, although libcurl connected to the socket.
      if failure.code == .cannotConnect, let socketPath {
        let words = number != 0 ? String(cString: strerror(Int32(number))) : "unknown error"
        reason = "can't connect to the Unix socket at \(socketPath): \(words)"
      }
      if failure.code == .pinMismatch { reason += "; the server presented \(shownPins.joined(separator: ", "))" }
      let peer = remoteAddress.isEmpty ? "" : "\(remoteAddress) port \(long(CCINFO_PRIMARY_PORT))"
      if !peer.isEmpty, !reason.contains(peer) { reason += ", \(peer)" }
      let saysPhase = failure.code == .cannotConnect || failure.code == .cannotResolveHost
      if !saysPhase { reason += ", \(phase.rawValue)" }
      return TaskError(failure.code, reason, phase: phase, wasNotSent: wasNotSent)
    }

    private var lackOfCredentials: TaskError {
      TaskError(.proxyAuthenticationRequired, "the proxy requires credentials", phase: .connecting, wasNotSent: true)
    }

    /// The error if the proxy refused the tunnel, in which case the request was not sent. Otherwise `nil`.
    private var tunnelFailure: TaskError? {
      let status = HTTPStatus(long(CCINFO_HTTP_CONNECTCODE))
      guard status.code >= 300 else { return nil }
      // A refusal is permanent. A status that may be temporary is reported as a connection failure instead.
      let isRefused = status.code < 500 && !RetryableStatuses.standard.contains(status)
      return TaskError(
        isRefused ? .proxyRefused : .cannotConnect,
        "the proxy returned \(status) for CONNECT, \(TaskError.Phase.connecting.rawValue)",
        phase: .connecting, wasNotSent: true)
    }

    private var shownPins: [String] {
      var information: UnsafePointer<ccurl_certinfo>?
      guard ccurl_easy_get_certinfo(easy, &information) == CCE_OK, let information,
        let lists = information.pointee.certinfo
      else { return ["no readable certificate"] }
      return (0..<Int(information.pointee.num_of_certs)).compactMap { index in
        var entry = lists[index]
        while let present = entry {
          if let data = present.pointee.data, let text = String(validatingCString: data), text.hasPrefix("Cert:") {
            return CertificateKey.pin(ofPEM: String(text.dropFirst("Cert:".count)))
          }
          entry = present.pointee.next
        }
        return nil
      }
    }

    private var remoteAddress: String {
      var address: UnsafePointer<CChar>?
      guard ccurl_easy_get_string(easy, CCINFO_PRIMARY_IP, &address) == CCE_OK, let address, address.pointee != 0 else {
        return ""
      }
      return String(cString: address)
    }

    private func duration(_ info: Int32) -> Duration { .microseconds(off(info)) }

    private func long(_ info: Int32) -> Int {
      var value = 0
      ccurl_easy_get_long(easy, info, &value)
      return value
    }

    private func off(_ info: Int32) -> Int64 {
      var value: Int64 = 0
      ccurl_easy_get_off(easy, info, &value)
      return value
    }
  }

  extension CurlTransfer {
    func timed(_ error: any Error) -> any Error {
      guard lastMulti != nil, var error = error as? TaskError else { return error }
      error.timings = timings(CurlFacts(handle, sendCount: sendCount, wasNotSent: wasNotSent))
      return error
    }

    func timings(_ facts: CurlFacts, handedOn bytes: Int64 = 0) -> TransferTimings {
      let firstByte = answeredAt > startedAt ? Int64(clamping: answeredAt - startedAt) : 0
      return facts.timings(handedOn: bytes, firstByte: .nanoseconds(firstByte))
    }
  }
#endif
