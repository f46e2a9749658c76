#if os(Linux)
  import CCurl
  import ErrandFoundation

  extension CurlLoop {
    struct Owner {
      let group: CurlGroup.ID
      /// The origin of the exchange that opened the connection.
      let origin: Origin
      let route: CurlSweeper.Route
      /// The local port, if a request has been sent. `nil` for a Unix socket.
      var localPort: Int32?
      weak var call: CurlTransfer?
      /// The inode of the socket, which distinguishes it from a later socket with the same descriptor.
      let inode: UInt

      /// Whether a transfer can use the connection. Requests without TLS share the connections to their proxy,
      /// regardless of the host.
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
      // libcurl doesn't use a proxy for Unix sockets.
      let proxy = transfer.origin.isSecure || isUnix ? nil : transfer.proxy
      let route = CurlSweeper.Route(host: transfer.origin.host, port: transfer.origin.port, proxy: proxy)
      owners[descriptor] = Owner(
        group: transfer.group, origin: transfer.origin, route: route, call: transfer,
        inode: SocketWatch.inode(of: descriptor))
      group?.sockets[descriptor] = transfer.origin.description
      // A Unix socket has only one address to try, so this is the transfer's connection.
      if isUnix { transfer.socket = sockets.join(descriptor, after: transfer.socket) }
    }

    func watch(_ descriptor: Int32, _ events: UInt32, of multi: CurlMulti, for transfer: CurlTransfer?) {
      sockets.watch(descriptor, events, of: multi.id)
      guard let transfer else { return }
      if events != 0 { transfer.socket = sockets.join(descriptor, after: transfer.socket) }
      transfer.isWatched(reads: events & EPOLLIN.rawValue != 0, writes: events & EPOLLOUT.rawValue != 0)
    }

    /// Called when a transfer leaves its connection, which is then idle or closed.
    func left(_ transfer: CurlTransfer) {
      leaveLine(transfer)
      if !transfer.opened.isEmpty { forgetClosed(of: transfer) }
      if transfer.isMultiplexed { sockets.multiplexes(transfer.socket) }
      sockets.leave(transfer.socket, at: transfer.sendCount > 0 ? now : 0)
      transfer.socket = SocketWatch.Key()
      idleCheck = min(idleCheck, now &+ transfer.rules.idleLifetime)
    }

    /// Assigns the connection with this local port to a transfer. Returns `false` if a pooled connection was closed or
    /// has unread data. TLS delivers one record at a time, so an unsolicited response may be hidden behind another
    /// record. libcurl may reassign a connection to another transfer before it returns, with no event in between.
    func takes(_ transfer: CurlTransfer, connectionFrom port: Int32) -> Bool {
      guard port != 0 else { return takesUnnamed(transfer) }
      guard let descriptor = connection(from: port, for: transfer) else {
        name(port, of: transfer)
        return true
      }
      if !dying.isEmpty, dying[descriptor]?.isCondemned ?? false { return false }
      // libcurl 8.12 may assign an HTTP/2 connection to an exchange that has to use HTTP/1.1.
      if !transfer.mayMultiplex, sockets.carriesStreams(descriptor) { return false }
      if descriptor == transfer.socket.descriptor, sockets.isOpen(transfer.socket) { return true }
      // A shared connection may have unread data for other exchanges.
      let isShared = transfer.mayMultiplex && !sockets.awaitsNothing(descriptor)
      guard isShared || isSilent(descriptor, for: transfer) && !transfer.hasUnread else { return false }
      // Don't wait until libcurl asks for events: it may read a response and pause before that.
      transfer.socket = sockets.join(descriptor, after: transfer.socket)
      return true
    }

    /// Returns the connection with this local port, or `nil` if none has carried a request. Connections to two hosts
    /// may have the same local port.
    private func connection(from port: Int32, for transfer: CurlTransfer) -> Int32? {
      guard let descriptor = ports[port] else { return nil }
      if let owner = owners[descriptor], owner.mayCarry(transfer) { return descriptor }
      return sharesPorts ? owners.first { $0.value.localPort == port && $0.value.mayCarry(transfer) }?.key : nil
    }

    /// Called after a transfer's connection has been established and before its request is written.
    func stands(_ transfer: CurlTransfer, connectionFrom port: Int32) {
      if port == 0 {
        sockets.stands(transfer.socket)
      } else if connection(from: port, for: transfer) == nil {
        name(port, of: transfer)
      }
    }

    /// Assigns a new connection to a transfer. libcurl doesn't ask for events on a connection that it established in a
    /// single call. After a resend, the last socket with events may belong to the previous connection.
    private func name(_ port: Int32, of transfer: CurlTransfer) {
      let isKnown = sockets.isOpen(transfer.socket)
      // With HTTP/3, the last socket may belong to a slower TCP connection.
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
      // Both address families have the port at the same offset.
      return code == 0 ? Int32(UInt16(bigEndian: address.sin6_port)) : 0
    }

    /// Assigns a Unix socket connection, which has no port, to a transfer. Which idle connection libcurl uses is
    /// unknown until it asks for events, so none of them may have unread data.
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

    /// Whether an exchange whose connection is still unknown may use this idle connection.
    func mayBeTaken(_ owner: Owner) -> Bool {
      guard groups[owner.group]?.isUnix ?? false else { return false }
      return timers.elements.contains { $0.group == owner.group && $0.sendCount > 0 && !sockets.isOpen($0.socket) }
    }

    /// Whether an idle connection has no unread data. This iteration's epoll events usually show that without a system
    /// call, but they are not enough for a request that must not be sent twice.
    private func isSilent(_ descriptor: Int32, for transfer: CurlTransfer) -> Bool {
      let isReported = transfer.mayRepeat && silence != 0 && sockets.isWatched(descriptor, since: silence)
      return isReported && CurlLibrary.now < silence + Self.hearing || Self.isSilent(descriptor)
    }

    /// How long an iteration's events are trusted for idle connections, in nanoseconds.
    private static let hearing: UInt64 = 1_000_000

    static func isSilent(_ descriptor: Int32) -> Bool {
      var byte: UInt8 = 0
      return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) < 0
    }

    /// Makes libcurl try the next address immediately after a failed one. See ``CurlLibrary/stallsAtNextAddress``.
    func goOnConnecting() {
      guard !stalled.isEmpty else { return }
      for transfer in stalled where transfer.multi != nil && transfer.isConnecting { transfer.rouse() }
      stalled.removeAll(keepingCapacity: true)
    }

    func close(_ descriptor: Int32) -> Int32 {
      sockets.closing(descriptor)
      if let owner = forget(descriptor), owner.localPort == nil, CurlLibrary.stallsAtNextAddress,
        let call = owner.call
      {
        stalled.append(call)
      }
      return Descriptor.release(descriptor)
    }

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

    /// Removes connections that were dropped while they were being established. libcurl 7.88 closes them without
    /// calling the close callback.
    func forgetClosed(of transfer: CurlTransfer) {
      for descriptor in transfer.opened {
        guard let owner = owners[descriptor], owner.call === transfer, owner.localPort == nil,
          SocketWatch.inode(of: descriptor) != owner.inode
        else { continue }
        forget(descriptor)
      }
      transfer.opened.removeAll()
    }

    /// Called after libcurl has handled the events.
    func heed(_ events: UInt32, of descriptor: Int32) {
      if events == EPOLLOUT.rawValue {
        guard sockets.restsFromWriting(descriptor) else { return }
        resting.append(descriptor)
        restEnd = min(restEnd, now + Self.rest)
      } else if !resting.isEmpty {
        sockets.endRest(of: descriptor)
      }
    }

    /// How long polling for writing is suspended, in nanoseconds. Polling also resumes when the socket becomes
    /// readable.
    private static let rest: UInt64 = 10_000_000

    func endRests() {
      restEnd = .max
      for descriptor in resting { sockets.endRest(of: descriptor) }
      resting.removeAll(keepingCapacity: true)
    }

    /// Called when a stream is opened. If its connection has several streams, marks each one as shared.
    func joins(_ transfer: CurlTransfer) {
      guard let users = sockets.users(of: transfer.socket), users > 1 else { return }
      transfer.hasCompany = true
      guard users == 2 else { return }  // with more users, the others are already marked
      for other in timers.elements where other.socket == transfer.socket { other.hasCompany = true }
    }

    /// Called when a server announces that it won't process the streams after `last` on a connection.
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
