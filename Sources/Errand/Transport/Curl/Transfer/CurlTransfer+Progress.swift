#if os(Linux)
  import CCurl

  /// libcurl's reports of progress, which it makes from within its calls; on the loop.
  extension CurlTransfer {
    /// Has libcurl report whenever something may have moved.
    func followProgress() {
      ccurl_easy_set_xferinfo(
        handle.pointer, { data, _, _, _, _ in CurlTransfer.from(data)?.mayGoOn() ?? false ? 0 : 1 },
        Unmanaged.passUnretained(self).toOpaque())
      ccurl_easy_set_long(handle.pointer, CCOPT_NOPROGRESS, 0)
    }

    /// False where it is to end.
    private func mayGoOn() -> Bool {
      if let unconnectedAt, unconnectedAt != connectedAt, hasTunnel {
        self.unconnectedAt = nil
        return maySend(from: port)
      }
      if lacksAlert { lacksAlert = ccurl_easy_tls_lacks_end(handle.pointer) == 1 }
      if isSent { reportsSinceSent? += 1 }
      return true
    }

    // MARK: Without the callback before a request

    // libcurl reports progress after each step: also after that which made the connection, before that which writes the
    // request. Each go of the exchange has a connection of its own, whose making is told (`opened`).

    /// libcurl's clock when the connection stood, in microseconds; the sum of those of all its goes.
    var connectedAt: Int64 {
      var time: Int64 = 0
      ccurl_easy_get_off(handle.pointer, origin.isSecure ? CCINFO_APPCONNECT_TIME_T : CCINFO_CONNECT_TIME_T, &time)
      return time
    }

    /// False where a proxy has yet to make the tunnel, with which libcurl's clock may have stopped for TLS before: from then on
    /// the request counts as perhaps written.
    private var hasTunnel: Bool {
      guard origin.isSecure, proxy != nil else { return true }
      var status = 0
      ccurl_easy_get_long(handle.pointer, CCINFO_HTTP_CONNECTCODE, &status)
      return status / 100 == 2
    }

    /// This side's port of the connection; 0 over a Unix socket.
    private var port: Int32 {
      var port = 0
      ccurl_easy_get_long(handle.pointer, CCINFO_LOCAL_PORT, &port)
      return Int32(truncatingIfNeeded: port)
    }
  }
#endif
