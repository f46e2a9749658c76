#if os(Linux)
  import CCurl

  extension CurlLoop {
    struct Dying {
      let multi: UInt32
      let route: CurlSweeper.Route
      /// Whether the socket has been replaced so that libcurl finds the connection closed.
      let isCondemned: Bool
    }

    /// Closes idle connections that have received data, were closed by the server, or have expired.
    ///
    /// An unsolicited response would be taken for the response to the next request (RFC 9112 §9.2). libcurl itself
    /// reads unsolicited HTTP/2 frames and determines whether the connection is still open.
    func closeIdle() {
      if now >= idleCheck { expireIdle() }
      if now >= sweepCheck { sweepAgain() }
      guard !spoken.isEmpty else { return }
      for descriptor in spoken {
        guard let owner = owners[descriptor], case .idle = sockets.report(descriptor) else { continue }
        guard !mayBeTaken(owner) else {
          sockets.unwatch(descriptor)
          continue
        }
        let (multi, isInOrder) = sockets.hear(descriptor)
        if isInOrder {
          dying[descriptor] = Dying(multi: multi, route: owner.route, isCondemned: false)
        } else {
          scheduleClose(descriptor, of: multi, owner)
        }
      }
      spoken.removeAll(keepingCapacity: true)
      sweep()
    }

    private func expireIdle() {
      idleCheck = .max
      for group in groups.values {
        let (descriptors, next) = sockets.expired(at: now, lifetime: group.idleLifetime)
        for descriptor in descriptors {
          guard let owner = owners[descriptor], owner.group == group.id, !mayBeTaken(owner) else { continue }
          scheduleClose(descriptor, of: sockets.hear(descriptor).multi, owner)
        }
        idleCheck = min(idleCheck, next)
      }
      sweep()
    }

    private func scheduleClose(_ descriptor: Int32, of multi: UInt32, _ owner: Owner) {
      sockets.scheduleClose(descriptor, Self.isOfDatagrams(descriptor) ? unconnected : dead)
      dying[descriptor] = Dying(multi: multi, route: owner.route, isCondemned: true)
    }

    private static func isOfDatagrams(_ descriptor: Int32) -> Bool {
      var type: Int32 = 0
      var size = socklen_t(MemoryLayout<Int32>.size)
      return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == Int32(SOCK_DGRAM.rawValue)
    }

    /// Called when a stream is cancelled. Notifies the server, or closes the connection if no other stream uses it.
    ///
    /// libcurl 7.88 buffers the RST_STREAM until it has something else to send or to read on the connection. Until
    /// then, or until the idle connection is closed, a slow server would keep processing the request. (In its http2.c,
    /// `send_callback` buffers less than 1 KiB, and `http2_data_done` does not flush it.)
    func reset(_ socket: SocketWatch.Key) {
      guard let users = sockets.users(of: socket), let owner = owners[socket.descriptor] else { return }
      guard users == 0 else { return flush(socket) }
      scheduleClose(socket.descriptor, of: sockets.hear(socket.descriptor).multi, owner)
      sweep()
    }

    /// Makes libcurl flush the buffer of a connection, as it does for a stream that resumes after a pause.
    private func flush(_ socket: SocketWatch.Key) {
      let other = timers.elements.first { $0.socket == socket && $0.stream != nil && $0.pauses == 0 && !$0.isOver }
      guard let other else { return }
      other.rouse()
    }

    /// Makes libcurl check the connections in `dying`.
    ///
    /// Newer versions of libcurl check the connections that the request can use, but check all connections only once a
    /// second (seen with 8.12.1 and later). Until that check, connections with unread data are not watched, and
    /// connections with a replaced socket carry no data.
    private func sweep() {
      guard !dying.isEmpty else { return }
      var read: [Int32: UInt64] = [:]
      for (descriptor, one) in dying where !one.isCondemned { read[descriptor] = ccurl_bytes_read(descriptor) }
      var routes: [UInt32: Set<CurlSweeper.Route>] = [:]
      for one in dying.values { routes[one.multi, default: []].insert(one.route) }
      for (id, routes) in routes {
        guard let multi = multis[id] else { continue }
        for route in routes { sweeper?.sweep(multi, route) }
      }
      for (descriptor, count) in read where dying[descriptor] != nil {
        let isHeard = Self.isSilent(descriptor) || ccurl_bytes_read(descriptor) != count
        if isHeard { dying[descriptor] = nil } else { sockets.unwatch(descriptor) }
      }
      sweepCheck = dying.isEmpty ? .max : now + Self.sweepInterval
    }

    /// The time between two sweeps, in nanoseconds. Slightly longer than the second between libcurl's checks.
    private static let sweepInterval: UInt64 = 1_010_000_000

    private func sweepAgain() {
      sweepCheck = .max
      for (descriptor, one) in dying where owners[descriptor] == nil || multis[one.multi] == nil {
        dying[descriptor] = nil
      }
      let heard = dying.filter { !$0.value.isCondemned }.keys
      sweep()
      for descriptor in heard where dying[descriptor] == nil && owners[descriptor] != nil { sockets.watch(descriptor) }
    }
  }
#endif
