#if os(Linux)
  import CCurl

  /// Connections that are idle, and are to be closed.
  extension CurlLoop {
    /// A connection that libcurl is to look at.
    struct Dying {
      let multi: UInt32
      let route: CurlSweeper.Route
      /// A socket that is closed has taken its place.
      let isCondemned: Bool
    }

    /// Closes idle connections that have said something, were closed by the server, or have waited too long.
    ///
    /// An unsolicited response would answer the next request (RFC 9112 §9.2). Unsolicited frames of HTTP/2 are read
    /// by libcurl, which finds out whether the connection still stands.
    func closeIdle() {
      if now >= idleCheck { expireIdle() }
      if now >= sweepCheck { sweepAgain() }
      guard !spoken.isEmpty else { return }
      for descriptor in spoken {
        guard let owner = owners[descriptor], case .idle = sockets.report(descriptor) else { continue }
        guard !mayBeTaken(owner) else {
          sockets.disregard(descriptor)
          continue
        }
        let (multi, isInOrder) = sockets.hear(descriptor)
        if isInOrder {
          dying[descriptor] = Dying(multi: multi, route: owner.route, isCondemned: false)
        } else {
          condemn(descriptor, of: multi, owner)
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
          condemn(descriptor, of: sockets.hear(descriptor).multi, owner)
        }
        idleCheck = min(idleCheck, next)
      }
      sweep()
    }

    private func condemn(_ descriptor: Int32, of multi: UInt32, _ owner: Owner) {
      sockets.condemn(descriptor, Self.isOfDatagrams(descriptor) ? unconnected : dead)
      dying[descriptor] = Dying(multi: multi, route: owner.route, isCondemned: true)
    }

    private static func isOfDatagrams(_ descriptor: Int32) -> Bool {
      var type: Int32 = 0
      var size = socklen_t(MemoryLayout<Int32>.size)
      return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == Int32(SOCK_DGRAM.rawValue)
    }

    /// A stream was given up: tells the server, or closes the connection where no other stream uses it.
    ///
    /// libcurl 7.88 keeps the RST_STREAM in its buffer until it has something else to send or to read there; a server that
    /// thinks would go on until the idle connection is closed. (`send_callback` in its http2.c keeps what is below 1 KiB,
    /// `http2_data_done` does not flush it.)
    func reset(_ socket: SocketWatch.Key) {
      guard let users = sockets.users(of: socket), let owner = owners[socket.descriptor] else { return }
      guard users == 0 else { return flush(socket) }
      condemn(socket.descriptor, of: sockets.hear(socket.descriptor).multi, owner)
      sweep()
    }

    /// Has libcurl write what it keeps in the buffer of a connection, as it does for a stream that goes on after a pause.
    private func flush(_ socket: SocketWatch.Key) {
      let other = timers.elements.first { $0.socket == socket && $0.stream != nil && $0.pauses == 0 && !$0.isOver }
      guard let other else { return }
      other.rouse()
    }

    /// Has libcurl look at what is dying.
    ///
    /// Newer ones look at the connections that a request may go over, and at all of them once in a second (seen with 8.12.1 and
    /// later). Until then a connection that has something to say is not listened to, and one that is condemned carries nothing.
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
        if isHeard { dying[descriptor] = nil } else { sockets.disregard(descriptor) }
      }
      sweepCheck = dying.isEmpty ? .max : now + Self.sweepInterval
    }

    /// A little more than a second, in nanoseconds.
    private static let sweepInterval: UInt64 = 1_010_000_000

    private func sweepAgain() {
      sweepCheck = .max
      for (descriptor, one) in dying where owners[descriptor] == nil || multis[one.multi] == nil {
        dying[descriptor] = nil
      }
      let heard = dying.filter { !$0.value.isCondemned }.keys
      sweep()
      for descriptor in heard where dying[descriptor] == nil && owners[descriptor] != nil { sockets.regard(descriptor) }
    }
  }
#endif
