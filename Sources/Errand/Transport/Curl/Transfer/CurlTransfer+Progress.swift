#if os(Linux)
  import CCurl

  /// libcurl reports progress from within its own calls, on the loop.
  extension CurlTransfer {
    func followProgress() {
      ccurl_easy_set_xferinfo(
        handle.pointer, { data, _, _, _, _ in CurlTransfer.from(data)?.mayGoOn() ?? false ? 0 : 1 },
        Unmanaged.passUnretained(self).toOpaque())
      ccurl_easy_set_long(handle.pointer, CCOPT_NOPROGRESS, 0)
    }

    /// Handles a progress report. Returns `false` to end the transfer.
    private func mayGoOn() -> Bool {
      if let unconnectedAt, unconnectedAt != connectedAt, hasTunnel {
        self.unconnectedAt = nil
        return maySend(from: port)
      }
      if lacksAlert { lacksAlert = ccurl_easy_tls_lacks_end(handle.pointer) == 1 }
      if isSent { reportsSinceSent? += 1 }
      return true
    }

    // MARK: Without the request callback

    // libcurl reports progress after each step, including between establishing the connection and writing the request.
    // Each send has its own connection, and `opened` is called for it.

    /// The time that libcurl took to establish connections, in microseconds, summed over all sends.
    var connectedAt: Int64 {
      var time: Int64 = 0
      ccurl_easy_get_off(handle.pointer, origin.isSecure ? CCINFO_APPCONNECT_TIME_T : CCINFO_CONNECT_TIME_T, &time)
      return time
    }

    /// Whether the request needs no tunnel, or the proxy has opened the tunnel. libcurl's TLS time may refer to the
    /// handshake with the proxy. Once this is `true`, the request counts as possibly written.
    private var hasTunnel: Bool {
      guard origin.isSecure, proxy != nil else { return true }
      var status = 0
      ccurl_easy_get_long(handle.pointer, CCINFO_HTTP_CONNECTCODE, &status)
      return status / 100 == 2
    }

    private var port: Int32 {
      var port = 0
      ccurl_easy_get_long(handle.pointer, CCINFO_LOCAL_PORT, &port)
      return Int32(truncatingIfNeeded: port)
    }
  }
#endif
