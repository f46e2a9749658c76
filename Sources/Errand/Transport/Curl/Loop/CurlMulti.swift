#if os(Linux)
  import CCurl
  import ErrandFoundation

  /// A multi handle with its transfers, sockets and timer. Only used on the loop's thread.
  final class CurlMulti {
    let id: UInt32
    private let pointer: OpaquePointer
    private unowned let loop: CurlLoop
    private(set) var count = 0
    /// The instant at which libcurl asked to be called, or `.max`.
    private(set) var deadline = UInt64.max
    let use: Use

    enum Use {
      case brief
      case longLived
      case alone

      init(_ transfer: CurlTransfer) { self = transfer.isAlone ? .alone : transfer.isLongLived ? .longLived : .brief }
    }

    init?(id: UInt32, for use: Use, group: CurlGroup, loop: CurlLoop) {
      guard let pointer = ccurl_multi_init() else { return nil }
      self.id = id
      self.use = use
      self.pointer = pointer
      self.loop = loop
      let data = Unmanaged.passUnretained(self).toOpaque()
      ccurl_multi_set_socket(
        pointer,
        { easy, descriptor, interest, data, _ in
          guard let data else { return 0 }
          Unmanaged<CurlMulti>.fromOpaque(data).takeUnretainedValue().watch(descriptor, interest, for: easy)
          return 0
        }, data)
      ccurl_multi_set_timer(
        pointer,
        { _, milliseconds, data in
          guard let data else { return 0 }
          Unmanaged<CurlMulti>.fromOpaque(data).takeUnretainedValue().setTimer(milliseconds)
          return 0
        }, data)
      // Enough for one connection per transfer, and the same number of idle connections.
      ccurl_multi_set_long(pointer, CCMOPT_MAXCONNECTS, 2 * CurlGroup.capacity)
      ccurl_multi_set_long(pointer, CCMOPT_MAX_HOST_CONNECTIONS, group.connectionsPerOrigin)
      ccurl_multi_set_long(pointer, CCMOPT_PIPELINING, Int(CCPIPE_MULTIPLEX))
      // The server limits the streams on a connection. libcurl's own limit of 100 is below the capacity of a multi, and
      // each transfer above it would open a new connection.
      ccurl_multi_set_long(pointer, CCMOPT_MAX_CONCURRENT_STREAMS, use == .alone ? 1 : 1000)
    }

    func add(_ transfer: CurlTransfer) {
      transfer.startedAt = CurlLibrary.now
      let code = ccurl_multi_add_handle(pointer, transfer.handle.pointer)
      guard code == CCM_OK else { return loop.completed(transfer, CCE_FAILED_INIT) }
      transfer.multi = self
      transfer.lastMulti = self
      count += 1
    }

    func remove(_ transfer: CurlTransfer) {
      guard transfer.multi === self else { return }
      ccurl_multi_remove_handle(pointer, transfer.handle.pointer)
      transfer.multi = nil
      count -= 1
    }

    func close() { ccurl_multi_cleanup(pointer) }

    /// Adds a handle without a transfer, lets libcurl process it, and removes it again.
    func passThrough(_ handle: OpaquePointer) {
      guard ccurl_multi_add_handle(pointer, handle) == CCM_OK else { return }
      act(CC_SOCKET_TIMEOUT, 0)
      ccurl_multi_remove_handle(pointer, handle)
    }

    func socketAction(_ descriptor: Int32, events: UInt32) {
      var mask: Int32 = 0
      if events & EPOLLIN.rawValue != 0 { mask |= CC_CSELECT_IN }
      if events & EPOLLOUT.rawValue != 0 { mask |= CC_CSELECT_OUT }
      if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { mask |= CC_CSELECT_ERR }
      act(descriptor, mask)
    }

    func expire(at now: UInt64) {
      // A timeout of 0 that is set during the call expires immediately. The limits keep one multi from blocking the
      // others: each call may read megabytes from a peer that never stops sending.
      for _ in 0..<64 where deadline <= now {
        deadline = .max
        act(CC_SOCKET_TIMEOUT, 0)
        if deadline <= now, CurlLibrary.now > now + Self.longestTurn { return }
      }
    }

    /// The maximum time for repeated calls to one multi, in nanoseconds.
    private static let longestTurn: UInt64 = 2_000_000

    func drain() {
      var easy: OpaquePointer?
      var code: Int32 = 0
      var remaining: Int32 = 0
      while ccurl_multi_next_done(pointer, &easy, &code, &remaining) == 1 {
        guard let easy, let transfer = CurlTransfer.of(easy) else { continue }
        remove(transfer)
        loop.completed(transfer, code)
      }
    }

    private func act(_ descriptor: Int32, _ mask: Int32) {
      var running: Int32 = 0
      ccurl_multi_socket_action(pointer, descriptor, mask, &running)
      drain()
      loop.goOnConnecting()
    }

    // libcurl must not be called from these two callbacks.

    private func setTimer(_ milliseconds: Int) {
      deadline = milliseconds < 0 ? .max : loop.now + UInt64(milliseconds) * 1_000_000
    }

    private func watch(_ descriptor: Int32, _ interest: Int32, for easy: OpaquePointer) {
      var events: UInt32 = 0
      if interest != CC_POLL_REMOVE {
        if interest & CC_POLL_IN != 0 { events |= EPOLLIN.rawValue }
        if interest & CC_POLL_OUT != 0 { events |= EPOLLOUT.rawValue }
      }
      loop.watch(descriptor, events, of: self, for: CurlTransfer.of(easy))
    }
  }
#endif
