#if os(Linux)
  import ErrandFoundation

  extension CurlLoop {
    func reschedule(_ transfer: CurlTransfer) {
      guard transfer.heapIndex >= 0 else { return }
      timers.update(transfer)
    }

    func fireTimers() {
      while let transfer = timers.first, transfer.deadline <= now {
        if transfer.expired(at: now) != nil { readOnce(transfer) }
        if transfer.isOver { continue }
        if let error = transfer.expired(at: now) {
          stop(transfer, with: error)
        } else {
          timers.update(transfer)
        }
      }
    }

    /// Reads the socket before a timeout ends the transfer: a response may have arrived while the process was stopped.
    private func readOnce(_ transfer: CurlTransfer) {
      guard sockets.isOpen(transfer.socket), let multi = transfer.multi else { return }
      let descriptor = transfer.socket.descriptor
      var report = pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: sockets.wanted(of: descriptor)), revents: 0)
      guard report.events != 0, poll(&report, 1, 0) > 0 else { return }
      pulse.enter()
      multi.socketAction(descriptor, events: UInt32(UInt16(bitPattern: report.revents)))
      pulse.leave()
      endSettled()
    }

    /// Returns the time to wait for events, in milliseconds, rounded up, or -1 to wait indefinitely.
    func timeout() -> Int32 {
      guard settled.isEmpty else { return 0 }
      var deadline = timers.first?.deadline ?? .max
      deadline = min(deadline, idleCheck, restEnd, sweepCheck)
      for multi in multis.values where multi.deadline < deadline { deadline = multi.deadline }
      guard deadline != .max else { return -1 }
      guard deadline > now else { return 0 }
      return Int32(min((deadline - now + 999_999) / 1_000_000, 3_600_000))
    }
  }
#endif
