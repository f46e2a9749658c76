#if os(Linux)
  import CCurl
  import ErrandFoundation

  extension CurlLoop {
    /// Ends the transfer after this iteration, because it can't be removed within a libcurl callback.
    func settle(_ transfer: CurlTransfer) { settled.append(transfer) }

    func endSettled() {
      // libcurl may read the entire response in the call that opens the connection, without asking for events.
      for transfer in early where !transfer.isOver { transfer.settleIfStuck() }
      early.removeAll(keepingCapacity: true)
      guard !settled.isEmpty else { return }
      for transfer in settled where transfer.isInDoubt { wakeOthers(beside: transfer) }
      let due = settled
      settled.removeAll()
      for transfer in due where !transfer.isOver {
        guard transfer.isAnswered || transfer.multi == nil else {
          judge(transfer)
          continue
        }
        transfer.multi?.remove(transfer)
        end(transfer, CCE_OK)
      }
    }

    /// Ends a transfer for which libcurl has stopped reading without reporting a result.
    private func judge(_ transfer: CurlTransfer) {
      // While a transfer is paused, libcurl doesn't report whether a response that ends with its connection is
      // complete.
      unpause(transfer)
      pulse.enter()
      transfer.multi?.expire(at: now)
      pulse.leave()
      guard !transfer.isOver, transfer.isStuck, let multi = transfer.multi else { return }
      let code = transfer.verdict  // read it while the connection is open
      multi.remove(transfer)
      completed(transfer, code)
    }

    func hasEnded(_ socket: SocketWatch.Key) -> Bool {
      var byte: UInt8 = 0
      return recv(socket.descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == 0
    }

    /// Makes libcurl check the other streams of a connection, until libcurl closes the connection or nothing changes.
    /// When libcurl 7.88 reads a protocol violation on a stream, it ends that stream without an error and forgets the
    /// other streams.
    private func wakeOthers(beside transfer: CurlTransfer) {
      var last = (settled: -1, users: Int32(-1))
      while let users = sockets.users(of: transfer.socket), users > 1, last != (settled.count, users) {
        last = (settled.count, users)
        pulse.enter()
        transfer.lastMulti?.socketAction(transfer.socket.descriptor, events: EPOLLIN.rawValue)
        pulse.leave()
      }
    }

    /// Removes a transfer from its multi and ends the transfer with an error.
    func stop(_ transfer: CurlTransfer, with error: any Error) {
      guard !transfer.isOver else { return }
      let (socket, isStream) = (transfer.socket, transfer.mayMultiplex && transfer.sendCount > 0)
      transfer.multi?.remove(transfer)
      left(transfer)
      if isStream { reset(socket) }
      transfer.abandon(error)
      retire(transfer)
    }

    /// Called when libcurl has finished a transfer, which has been removed from its multi.
    func completed(_ transfer: CurlTransfer, _ code: Int32) {
      var code = code
      if transfer.isAnswered {
        code = CCE_OK  // even if the rest of the request was not sent (RFC 9113 §8.1)
      } else if code == CCE_OK, transfer.head.isUntouched {
        code = CCE_GOT_NOTHING  // libcurl 7.88 reports no error when an HTTP/2 connection ends
      }
      if code != CCE_OK, transfer.stream != nil, CurlFailure.isTooLarge(transfer.handle.remark) {
        endOthers(beside: transfer)
      }
      if code != CCE_OK, let multi = transfer.lastMulti, transfer.startAfresh(after: code) {
        return multi.add(transfer)
      }
      if code == CCE_OK, transfer.isInDoubt { return settle(transfer) }
      end(transfer, code)
    }

    /// Shuts down a broken connection. libcurl 7.88 reports the error on only one of its streams, and the others would
    /// end only when they time out.
    private func endOthers(beside transfer: CurlTransfer) {
      if sockets.users(of: transfer.socket) ?? 0 > 1 { shutdown(transfer.socket.descriptor, Int32(SHUT_RDWR)) }
    }

    private func end(_ transfer: CurlTransfer, _ code: Int32) {
      // libcurl 8.23 keeps a connection open even if a chunked request was not sent completely.
      let (socket, isUnsent) = (transfer.socket, transfer.sendsBody && !transfer.isSent && transfer.stream == nil)
      transfer.complete(code)
      left(transfer)
      if isUnsent || transfer.isOnlyOne { reset(socket) }
      if transfer.isMultiplexed { groups[transfer.group]?.stick(transfer) }
      retire(transfer)
    }

    func retire(_ transfer: CurlTransfer) {
      if transfer.mayMultiplex, transfer.heapIndex >= 0 { CurlWatchdog.shared.leave(pulse) }
      timers.remove(transfer)
      transfer.release()
      wake(transfer)
      if groups[transfer.group]?.isClosed ?? false { untidy.append(transfer.group) }
    }
  }
#endif
