#if os(Linux)
  import CCurl
  import ErrandFoundation

  /// The addresses that a transfer may be carried to; on the loop. Without a policy none of this is called.
  extension CurlTransfer {
    /// Makes the socket for an address that libcurl is to connect to; none where the policy forbids it. libcurl then tries the next.
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
      return makeSocket(wanted)  // `opened` keeps it from the app's child processes
    }

    /// True when the request may be written to a connection that stands, which another request may have opened.
    func mayTalk(to address: UnsafePointer<CChar>?, _ port: Int32) -> Bool {
      let peer =
        rules.configuration.unixSocket.map { PeerAddress(socketPath: $0) }
        ?? address.flatMap { PeerAddress(String(cString: $0), port: Int(port)) }
      if let peer, addresses.allows(peer, for: origin) { return true }
      // A new connection will do where the name has another address by now.
      if hasStartedAfresh { failure = failure ?? forbidden(peer) } else { isRejected = true }
      return false
    }

    private func forbidden(_ peer: PeerAddress?) -> TaskError {
      .forbidden(peer, for: origin, isSurelyNotSent: isSurelyNotSent)
    }
  }

  /// Outside of the transfer, whose own `socket` is another.
  private func makeSocket(_ wanted: ccurl_sockaddr) -> Int32 { socket(wanted.family, wanted.type, wanted.protocol) }

  extension TaskError {
    /// An address that the policy does not allow.
    fileprivate static func forbidden(
      _ peer: PeerAddress?, for origin: Origin, isSurelyNotSent: Bool = true
    ) -> TaskError {
      let purpose = peer?.specialPurpose.map { ", which is \($0)" } ?? ""
      return TaskError(
        .forbiddenAddress,
        "addressPolicy does not allow \(peer?.description ?? "the address of an unknown kind")\(purpose), to which \(origin.host) leads",
        phase: .connecting, isSurelyNotSent: isSurelyNotSent)
    }
  }

  extension AddressPolicy {
    /// Throws ``TaskError`` for an origin that is reached by a proxy, unless its host is an address that is allowed: names are
    /// looked up by the proxy.
    func checkBehindProxy(_ origin: Origin, _ proxy: Proxy) throws(TaskError) {
      guard !allowsAll else { return }
      guard let peer = PeerAddress(origin.host, port: origin.port) else {
        throw TaskError(
          .forbiddenAddress,
          "addressPolicy cannot be asked about \(origin.host): the proxy \(proxy.address) looks it up, so nothing is sent",
          phase: .connecting, isSurelyNotSent: true)
      }
      guard allows(peer, for: origin) else { throw .forbidden(peer, for: origin) }
    }
  }
#endif
