#if os(Linux)
  import CCurl
  import ErrandFoundation

  /// Checks addresses against the request's policy, on the loop. Not used without a policy.
  extension CurlTransfer {
    /// Opens the socket for an address. If the policy forbids the address, libcurl tries the next one.
    func open(_ address: UnsafeRawPointer) -> Int32 {
      let wanted = address.load(as: ccurl_sockaddr.self)
      let peer = PeerAddress(address + MemoryLayout<ccurl_sockaddr>.size, size: Int(wanted.size))
      guard let peer, addresses.allows(peer, for: origin) else {
        if !hasAllowedAddress { failure = forbidden(peer) }
        if CurlLibrary.stallsAtNextAddress { loop.stalled.append(self) }
        connecting()
        return CC_SOCKET_BAD
      }
      hasAllowedAddress = true
      failure = nil
      return makeSocket(wanted)  // `opened` sets close-on-exec
    }

    /// Whether the request may be written to an established connection, which another request may have opened.
    func mayTalk(to address: UnsafePointer<CChar>?, _ port: Int32) -> Bool {
      let peer =
        rules.configuration.unixSocket.map { PeerAddress(socketPath: $0) }
        ?? address.flatMap { PeerAddress(String(cString: $0), port: Int(port)) }
      if let peer, addresses.allows(peer, for: origin) { return true }
      // A new connection may work if the host name now resolves to another address.
      if hasStartedAfresh { failure = failure ?? forbidden(peer) } else { isRejected = true }
      return false
    }

    private func forbidden(_ peer: PeerAddress?) -> TaskError {
      .forbidden(peer, for: origin, wasNotSent: wasNotSent)
    }
  }

  /// A global function, because in the transfer, `socket` refers to a property.
  private func makeSocket(_ wanted: ccurl_sockaddr) -> Int32 { socket(wanted.family, wanted.type, wanted.protocol) }

  extension TaskError {
    fileprivate static func forbidden(
      _ peer: PeerAddress?, for origin: Origin, wasNotSent: Bool = true
    ) -> TaskError {
      let purpose = peer?.specialPurpose.map { ", which is \($0)" } ?? ""
      return TaskError(
        .forbiddenAddress,
        "addressPolicy does not allow connecting to \(origin.host) at \(peer?.description ?? "an unknown kind of address")\(purpose)",
        phase: .connecting, wasNotSent: wasNotSent)
    }
  }

  extension AddressPolicy {
    /// Throws ``TaskError`` for an origin behind a proxy, unless its host is an allowed IP address. The proxy resolves
    /// host names, so they can't be checked.
    func checkBehindProxy(_ origin: Origin, _ proxy: Proxy) throws(TaskError) {
      guard !allowsAll else { return }
      guard let peer = PeerAddress(origin.host, port: origin.port) else {
        throw TaskError(
          .forbiddenAddress,
          "addressPolicy cannot check \(origin.host) because the proxy \(proxy.address) resolves it; the request was not sent",
          phase: .connecting, wasNotSent: true)
      }
      guard allows(peer, for: origin) else { throw .forbidden(peer, for: origin) }
    }
  }
#endif
