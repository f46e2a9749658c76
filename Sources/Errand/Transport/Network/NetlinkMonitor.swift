#if os(Linux)
  import Dispatch
  import ErrandFoundation

  /// Receives the kernel's messages about interfaces and addresses (rtnetlink(7)) until it is released.
  final class NetlinkMonitor: Sendable {
    /// The C structure `sockaddr_nl`. The header is not part of every SDK.
    private struct Address {
      var family = UInt16(AF_NETLINK)
      var padding: UInt16 = 0
      var process: UInt32 = 0  // the kernel assigns a number
      var groups: UInt32
    }

    /// `SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK`, which have different Swift types in glibc and musl.
    private static let kind: Int32 = 3 | 0o2_000_000 | 0o4000
    /// `RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR`.
    private static let groups: UInt32 = 0x1 | 0x10 | 0x100
    private static let routeProtocol: Int32 = 0  // NETLINK_ROUTE
    private static let newLink: UInt16 = 16  // RTM_NEWLINK
    private static let newAddress: UInt16 = 20  // RTM_NEWADDR
    private static let running: UInt32 = 0x40  // IFF_RUNNING

    private let source: Lock<any DispatchSourceRead>

    /// Opens the socket. Fails if the system doesn't allow it, for example in a sandbox.
    init?(onChange: @escaping @Sendable () -> Void) {
      let descriptor = socket(AF_NETLINK, Self.kind, Self.routeProtocol)
      guard descriptor >= 0 else { return nil }
      var address = Address(groups: Self.groups)
      let isBound = withUnsafeBytes(of: &address) { bytes in
        bind(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count)) == 0
      }
      guard isBound else {
        close(descriptor)
        return nil
      }
      let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global())
      source.setEventHandler { if Self.readMessages(descriptor) { onChange() } }
      source.setCancelHandler { close(descriptor) }
      source.resume()
      self.source = Lock(source)
    }

    deinit { source.withLock { $0.cancel() } }

    /// Reads all messages that have arrived. Returns `true` if the network has changed for the better.
    private static func readMessages(_ descriptor: Int32) -> Bool {
      var hasNetwork = false
      var buffer = [UInt8](repeating: 0, count: 8192)
      while true {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        if count > 0 {
          buffer.withUnsafeBytes { bytes in
            if reportsNetwork(UnsafeRawBufferPointer(rebasing: bytes[..<count])) { hasNetwork = true }
          }
        } else if count < 0, errno == ENOBUFS {
          hasNetwork = true  // the kernel has dropped messages
        } else if count == 0 || errno != EINTR {
          return hasNetwork
        }
      }
    }

    /// Whether a datagram has a message about a new address or about an interface that is running.
    static func reportsNetwork(_ datagram: UnsafeRawBufferPointer) -> Bool {
      var rest = datagram[...]
      while rest.count >= 16 {
        let header = UnsafeRawBufferPointer(rebasing: rest)
        let size = Int(header.loadUnaligned(as: UInt32.self))
        let type = header.loadUnaligned(fromByteOffset: 4, as: UInt16.self)
        guard size >= 16, size <= rest.count else { return false }
        if type == newAddress { return true }
        // The flags are at offset 8 of `ifinfomsg`, which follows the header.
        if type == newLink, size >= 28, header.loadUnaligned(fromByteOffset: 24, as: UInt32.self) & running != 0 {
          return true
        }
        rest = rest.dropFirst((size + 3) & ~3)
      }
      return false
    }
  }
#endif
