import ErrandFoundation

/// The server's end of a connection. Every call may block until the socket is shut down.
struct MockSocket: Sendable, Hashable {
  let descriptor: Int32

  /// Waits for bytes and returns how many were received. Returns 0 at the end or after an error.
  func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    while true {
      let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
      if count < 0, errno == EINTR { continue }
      return max(count, 0)
    }
  }

  /// Sends all of `data`. Returns `false` if the client disconnected.
  func transmit(_ data: Data) -> Bool {
    data.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let piece = UnsafeRawBufferPointer(rebasing: rest)
        let count = send(descriptor, piece.baseAddress, piece.count, MockPlatform.sendFlags)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
      }
      return true
    }
  }

  /// Waits for `duration`. Returns `false` as soon as the connection ends.
  ///
  /// A half-closed connection counts as ended, so that cancelled clients are noticed. HTTP clients never half-close.
  func pause(for duration: Duration) -> Bool {
    let end = ContinuousClock.now + duration
    var item = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while true {
      let left = ContinuousClock.now.duration(to: end)
      guard left > .zero else { return true }
      let count = poll(&item, 1, left.wholeMilliseconds)
      if count == 0 || (count < 0 && errno == EINTR) { continue }
      guard count > 0, item.revents & Int16(POLLHUP | POLLERR | POLLNVAL) == 0, hasUnreadBytes else { return false }
      // Stop polling for input: the unread bytes would end every further poll immediately.
      item.events = 0
    }
  }

  func drain() {
    withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { buffer in
      while receive(into: buffer) > 0 {}
    }
  }

  /// Closes the sending side and waits for the client to close. Closing with unread bytes would make the kernel send a
  /// reset, which might overtake the response.
  func drainAfterLastByte() {
    shutdown(descriptor, Int32(SHUT_WR))
    drain()
  }

  /// Ends the connection for the thread that is blocked on it. The descriptor stays open.
  func interrupt() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  func resetOnClose() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
  }

  func release() { close(descriptor) }

  private var hasUnreadBytes: Bool {
    var byte: UInt8 = 0
    return recv(descriptor, &byte, 1, MockPlatform.peekFlags) > 0
  }
}

extension Duration {
  /// The timeout for `poll`, rounded up, so that a wait never ends early and a short wait does not spin.
  fileprivate var wholeMilliseconds: Int32 {
    let (seconds, attoseconds) = components
    let fraction = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    return Int32(clamping: min(seconds, 1_000_000) * 1000 + fraction)
  }
}
