#if os(Linux)
  import CCurl
  import ErrandFoundation

  /// The connections of a loop, those that carry an exchange and those that wait for the next.
  extension CurlLoop {
    /// The group and the route of a connection.
    struct Owner {
      let group: CurlGroup.ID
      /// The server of the exchange for which it was opened.
      let origin: Origin
      let route: CurlSweeper.Route
      /// This side's port, once a request was sent; Unix sockets have none.
      var localPort: Int32?
      /// The transfer for which it is made.
      weak var maker: CurlTransfer?
      /// Its number in the kernel, which tells it from a later socket with the same descriptor.
      let inode: UInt

      /// True where it may be the connection of a transfer. To a proxy, exchanges with any plain host share one.
      func mayCarry(_ transfer: CurlTransfer) -> Bool {
        guard group == transfer.group else { return false }
        if let proxy = route.proxy { return !transfer.origin.isSecure && proxy == transfer.proxy }
        return origin == transfer.origin
      }
    }

    func opened(_ descriptor: Int32, by transfer: CurlTransfer) {
      forget(descriptor)
      sockets.opened(descriptor, of: transfer.multi?.id ?? 0)
      pulse.opened(descriptor)
      dying[descriptor] = nil
      let group = groups[transfer.group]
      let isUnix = group?.isUnix ?? false
      // Over a Unix socket libcurl uses no proxy.
      let proxy = transfer.origin.isSecure || isUnix ? nil : transfer.proxy
      let route = CurlSweeper.Route(host: transfer.origin.host, port: transfer.origin.port, proxy: proxy)
      owners[descriptor] = Owner(
        group: transfer.group, origin: transfer.origin, route: route, maker: transfer,
        inode: SocketWatch.inode(of: descriptor))
      group?.sockets[descriptor] = transfer.origin.description
      // There is one address to try: it is the connection of this transfer.
      if isUnix { transfer.socket = sockets.join(descriptor, after: transfer.socket) }
    }

    /// libcurl wants to hear of `events` of a socket of `multi`, for `transfer`.
    func watch(_ descriptor: Int32, _ events: UInt32, of multi: CurlMulti, for transfer: CurlTransfer?) {
      sockets.watch(descriptor, events, of: multi.id)
      guard let transfer else { return }
      if events != 0 { transfer.socket = sockets.join(descriptor, after: transfer.socket) }
      transfer.isWatched(reads: events & EPOLLIN.rawValue != 0, writes: events & EPOLLOUT.rawValue != 0)
    }

    /// The transfer is out of its multi: its connection is closed, or idle from now on.
    func left(_ transfer: CurlTransfer) {
      leaveLine(transfer)
      if !transfer.opened.isEmpty { forgetClosed(of: transfer) }
      if transfer.isMultiplexed { sockets.multiplexes(transfer.socket) }
      sockets.leave(transfer.socket, at: transfer.sendCount > 0 ? now : 0)
      transfer.socket = SocketWatch.Key()
      idleCheck = min(idleCheck, now &+ transfer.rules.idleLifetime)
    }

    /// A transfer takes a connection, known by this side's port; false where that is pooled, and was closed or has something
    /// to say: TLS hands over one record at a time, and an unasked answer may wait behind it. libcurl may hand a connection
    /// from one exchange to the next before it returns, so that nothing was reported of it in between.
    func takes(_ transfer: CurlTransfer, connectionFrom port: Int32) -> Bool {
      guard port != 0 else { return takesUnnamed(transfer) }
      guard let descriptor = connection(from: port, for: transfer) else {
        name(port, of: transfer)
        return true
      }
      if !dying.isEmpty, dying[descriptor]?.isCondemned ?? false { return false }
      // libcurl 8.12 hands one that speaks HTTP/2 to an exchange that is to go over HTTP/1.1.
      if !transfer.mayMultiplex, sockets.carriesStreams(descriptor) { return false }
      if descriptor == transfer.socket.descriptor, sockets.isOpen(transfer.socket) { return true }
      // A connection that may carry others may have something to say to them.
      let isShared = transfer.mayMultiplex && !sockets.awaitsNothing(descriptor)
      guard isShared || isSilent(descriptor, for: transfer) && !transfer.hasUnread else { return false }
      // From now on, not from when libcurl wants to hear of the socket: it may read an answer, and pause, before it does.
      transfer.socket = sockets.join(descriptor, after: transfer.socket)
      return true
    }

    /// The socket of a connection that carried a request already, from this side's `port`. Connections to two hosts may have the
    /// same.
    private func connection(from port: Int32, for transfer: CurlTransfer) -> Int32? {
      guard let descriptor = ports[port] else { return nil }
      if let owner = owners[descriptor], owner.mayCarry(transfer) { return descriptor }
      return sharesPorts ? owners.first { $0.value.localPort == port && $0.value.mayCarry(transfer) }?.key : nil
    }

    /// The connection of a transfer stands, and its request is not written.
    func stands(_ transfer: CurlTransfer, connectionFrom port: Int32) {
      if port == 0 {
        sockets.stands(transfer.socket)
      } else if connection(from: port, for: transfer) == nil {
        name(port, of: transfer)
      }
    }

    /// A transfer takes a new connection. One that was made in a single call is none that libcurl wanted to hear of, and after
    /// another send the socket that it did hear of may be the last one's.
    private func name(_ port: Int32, of transfer: CurlTransfer) {
      let isKnown = sockets.isOpen(transfer.socket)
      // Or that of TCP, beside which QUIC was quicker.
      let mayDiffer = transfer.sendCount > 0 || transfer.rules.configuration.version == .http3
      if !isKnown || mayDiffer && Self.localPort(of: transfer.socket.descriptor) != port {
        let made = owners.first {
          $0.value.localPort == nil && $0.value.mayCarry(transfer) && Self.localPort(of: $0.key) == port
        }
        guard let made else { return }
        transfer.socket = sockets.join(made.key, after: transfer.socket)
      }
      guard sockets.isOpen(transfer.socket) else { return }
      sockets.stands(transfer.socket)
      let other = ports.updateValue(transfer.socket.descriptor, forKey: port)
      if let other, other != transfer.socket.descriptor { sharesPorts = true }
      owners[transfer.socket.descriptor]?.localPort = port
    }

    private static func localPort(of descriptor: Int32) -> Int32 {
      var address = sockaddr_in6()
      var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
      let code = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
      }
      // The port has the same place in addresses of both families.
      return code == 0 ? Int32(UInt16(bigEndian: address.sin6_port)) : 0
    }

    /// A transfer takes a connection over a Unix socket, which has no port. Of several idle ones libcurl tells which once it
    /// wants to hear of it: until then none of them may have anything to say.
    private func takesUnnamed(_ transfer: CurlTransfer) -> Bool {
      guard !sockets.isOpen(transfer.socket), let group = groups[transfer.group] else {
        sockets.stands(transfer.socket)
        return true
      }
      let origin = transfer.origin.description
      let idle = group.sockets.filter { $0.value == origin && sockets.awaitsNothing($0.key) }.keys
      guard idle.allSatisfy(Self.isSilent) else { return false }
      if idle.count == 1, let only = idle.first { transfer.socket = sockets.join(only, after: transfer.socket) }
      return true
    }

    /// True where an idle connection may be the one of an exchange that libcurl has not placed yet.
    func mayBeTaken(_ owner: Owner) -> Bool {
      guard groups[owner.group]?.isUnix ?? false else { return false }
      return timers.elements.contains { $0.group == owner.group && $0.sendCount > 0 && !sockets.isOpen($0.socket) }
    }

    /// True where nothing came over an idle connection. For most, this turn's epoll reports say so without a system call, but they
    /// do not suffice for a request that may be sent only once.
    private func isSilent(_ descriptor: Int32, for transfer: CurlTransfer) -> Bool {
      let isReported = transfer.mayRepeat && silence != 0 && sockets.isWatched(descriptor, since: silence)
      return isReported && CurlLibrary.now < silence + Self.hearing || Self.isSilent(descriptor)
    }

    /// The time for which a turn's reports stand for idle connections, in nanoseconds.
    private static let hearing: UInt64 = 1_000_000

    static func isSilent(_ descriptor: Int32) -> Bool {
      var byte: UInt8 = 0
      return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) < 0
    }

    /// Has libcurl try the next address of a name at once where one has failed: see ``CurlLibrary/stallsAtNextAddress``.
    func goOnConnecting() {
      guard !stalled.isEmpty else { return }
      for transfer in stalled where transfer.multi != nil && transfer.isConnecting { transfer.rouse() }
      stalled.removeAll(keepingCapacity: true)
    }

    func close(_ descriptor: Int32) -> Int32 {
      sockets.closing(descriptor)
      if let owner = forget(descriptor), owner.localPort == nil, CurlLibrary.stallsAtNextAddress,
        let maker = owner.maker
      {
        stalled.append(maker)
      }
      return Descriptor.release(descriptor)
    }

    /// A connection is closed; returns its owner.
    @discardableResult
    private func forget(_ descriptor: Int32) -> Owner? {
      pulse.closing(descriptor)
      dying[descriptor] = nil
      guard let owner = owners.removeValue(forKey: descriptor) else { return nil }
      groups[owner.group]?.sockets[descriptor] = nil
      if let port = owner.localPort, ports[port] == descriptor {
        ports[port] = sharesPorts ? owners.first { $0.value.localPort == port }?.key : nil
      }
      return owner
    }

    /// Forgets connections that were given up before they stood. libcurl 7.88 closes them without calling back.
    func forgetClosed(of transfer: CurlTransfer) {
      for descriptor in transfer.opened {
        guard let owner = owners[descriptor], owner.maker === transfer, owner.localPort == nil,
          SocketWatch.inode(of: descriptor) != owner.inode
        else { continue }
        forget(descriptor)
      }
      transfer.opened.removeAll()
    }

    /// Something was reported of a socket, and libcurl has acted on it.
    func heed(_ events: UInt32, of descriptor: Int32) {
      if events == EPOLLOUT.rawValue {
        guard sockets.restsFromWriting(descriptor) else { return }
        resting.append(descriptor)
        restEnd = min(restEnd, now + Self.rest)
      } else if !resting.isEmpty {
        sockets.endRest(of: descriptor)
      }
    }

    /// The rest of a socket that is writable for nothing, in nanoseconds; it ends once the socket is readable.
    private static let rest: UInt64 = 10_000_000

    func endRests() {
      restEnd = .max
      for descriptor in resting { sockets.endRest(of: descriptor) }
      resting.removeAll(keepingCapacity: true)
    }

    /// A stream was opened. If its connection carries another one, both have company.
    func joins(_ transfer: CurlTransfer) {
      guard let users = sockets.users(of: transfer.socket), users > 1 else { return }
      transfer.hasCompany = true
      guard users == 2 else { return }  // more have it already
      for other in timers.elements where other.socket == transfer.socket { other.hasCompany = true }
    }

    /// A server will do nothing with the streams of a connection that are later than `last`.
    func goingAway(after last: UInt32, isGraceful: Bool, heardBy listener: CurlTransfer) {
      guard let port = listener.stream?.port, port != 0 else { return }
      for transfer in timers.elements
      where transfer.multi === listener.multi && transfer.origin == listener.origin {
        guard let stream = transfer.stream, stream.port == port else { continue }
        transfer.stream?.isLast = isGraceful && stream.id <= last
        if stream.id > last { transfer.refuseStream() }
      }
    }
  }
#endif
