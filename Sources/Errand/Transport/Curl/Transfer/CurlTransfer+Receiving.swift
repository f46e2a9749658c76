#if os(Linux)
  import CCurl
  import ErrandFoundation

  /// The response as libcurl hands it over; on the loop.
  extension CurlTransfer {
    /// A line of the head, or of the trailers; false where it ends the transfer.
    func receive(line: UnsafeRawBufferPointer) -> Bool {
      let rules = HeadLines.Rules(answers417: mayDropExpectation, isMultiplexed: stream != nil)
      if head.awaitsStatus { answeredAt = CurlLibrary.now }
      switch head.take(line, rules) {
      case .more: break
      case .complete:
        if answersIdleness {
          refuse()
          return false
        }
        publishHead()
      case .answered: dropExpectation()
      case .trailer: incoming.withLock { $0.inbox.receive(trailer: line) }
      case .refused(let reason):
        let reason = beginsFolded ? "its head begins with a folded line" : reason
        failure = TaskError(.badResponse, "the response cannot be read: \(reason)", phase: timers.phase)
        return false
      }
      if CurlLibrary.losesFirstField { guardFirstField() }
      return true
    }

    /// Whether the server stopped waiting for a request on a kept connection, and closes it: it has read none, so any request
    /// can be resent (RFC 9110 §15.5.9). A server that keeps the connection has read the request, and the 408 is its answer.
    private var answersIdleness: Bool {
      guard head.status == 408, stream == nil, !hasStartedAfresh, isReplayable, isOnPooledConnection else {
        return false
      }
      return head.framing.isOpenEnded && asksForBody || ResponseHead(head.bytes)?.closesConnection ?? false
    }

    /// Whether the connection was made for an earlier request.
    var isOnPooledConnection: Bool {
      var connections = 0
      ccurl_easy_get_long(handle.pointer, CCINFO_NUM_CONNECTS, &connections)
      return connections == 0
    }

    /// Has libcurl tell the line after the status line before it keeps it.
    private func guardFirstField() {
      guard !mayMultiplex, head.awaitsFirstField != isGuarded else { return }
      isGuarded = head.awaitsFirstField
      ccurl_easy_set_long(handle.pointer, CCOPT_VERBOSE, isGuarded ? 1 : 0)
    }

    /// libcurl is about to keep a line of the head.
    func inspect(line: UnsafeMutableRawBufferPointer) {
      guard CurlLibrary.losesFirstField, head.awaitsFirstField, let first = line.first else { return }
      guard first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") else { return }
      beginsFolded = true
      line[0] = UInt8(ascii: "\r")  // of a blank line it keeps nothing
    }

    /// libcurl reads the connection, or does not.
    func isWatched(reads: Bool, writes: Bool) {
      interest = (reads, writes)
      settleIfStuck()
    }

    /// Ends the exchange with this turn where libcurl reads no more of it.
    func settleIfStuck() {
      guard isStuck else { return }
      // It may have failed, which it tells before the turn is over.
      if interest.writes, verdict == CCE_OK { answered() } else { loop.settle(self) }
    }

    /// libcurl reads no more of the connection, and this side has not stopped it: it has read the whole answer, or the
    /// connection's end, or closes the connection. 7.88 would still wait until the request was sent, for ever where the source of
    /// that is paused.
    var isStuck: Bool {
      guard !interest.reads, sendsBody, !isSent, sendCount > 0, stream == nil, pauses & CCPAUSE_RECV == 0 else {
        return false
      }
      // Before the head it does not read while it writes that of the request.
      return (head.isComplete || !interest.writes && pauses & CCPAUSE_SEND != 0) && loop.sockets.isOpen(socket)
    }

    /// The code of a transfer that is stuck. libcurl does not say whether the chunks that it has read were all: where the
    /// connection has ended they may be cut.
    var verdict: Int32 {
      guard head.isComplete else { return CCE_GOT_NOTHING }
      if !mayHaveBody { return CCE_OK }
      let isWhole =
        head.framing.bodyLength.map { $0 == received } ?? (head.framing.isOpenEnded || !loop.hasEnded(socket))
      return isWhole ? CCE_OK : CCE_PARTIAL_FILE
    }

    /// A 417 to an expectation: libcurl sends the request once more without it, where none of the body went out.
    private var mayDropExpectation: Bool {
      guard expectsContinue, let outgoing else { return false }
      return outgoing.state.withLock { $0.outbox.isUntouched }
    }

    private func dropExpectation() {
      hasDroppedExpectation = true
      sendsLeft += 1
      handle.header?.dropExpectation()
    }

    func publishHead() {
      timers.responded(at: loop.now)
      rescheduled()
      let bytes = head.bytes
      let isConnectionReused = isOnPooledConnection
      let phases =
        notesPhases ? timings(CurlFacts(handle, sendCount: sendCount, isSurelyNotSent: false)) : nil
      incoming.withLock { incoming in
        if let phases { incoming.phases = phases }
        incoming.inbox.receive(head: bytes)
        incoming.isConnectionReused = isConnectionReused
      }
      loop.wake(self)
      // The next response must not be what one reading of this one leaves over (RFC 9112 §6.1).
      if head.framing.isAmbiguous { forbidReuse() }
      if head.framing.bodyLength == 0 || !mayHaveBody { answered() }
      if sendsBody, !isSent, !isAnswered { loop.early.append(self) }
      if origin.isSecure, stream == nil, head.framing.isOpenEnded, mayHaveBody { watchForAlert() }
      countReports()
    }

    /// The connection's end is the body's. Without the alert that closes TLS, an attacker may have made it (RFC 9112 §9.8), and
    /// libcurl takes it for the body's all the same.
    private func watchForAlert() {
      lacksAlert = ccurl_easy_tls_lacks_end(handle.pointer) == 1
      guard lacksAlert else { return }
      forbidReuse()
      // What libcurl has read up to the end it tells before it closes the connection, and no other call does so.
      followProgress()
    }

    /// A piece of the body; returns what libcurl is to be told: all was taken, it must wait, or it is too much.
    func receive(body: UnsafeRawBufferPointer) -> Int {
      timers.moved(at: loop.now)
      let isTaken = incoming.withLock { $0.inbox.receive(body) }
      guard isTaken else {
        pauses |= CCPAUSE_RECV
        timers.isHeld = true
        return Int(CC_WRITEFUNC_PAUSE)
      }
      received += Int64(body.count)
      loop.wake(self)
      if received == head.framing.bodyLength { receivedAll() }
      return body.count
    }

    private func receivedAll() {
      // libcurl reads no further than the stated length. What came behind it in the same record of TLS lies in the TLS
      // library, where no socket tells of it, and would answer the next request.
      if stream == nil, hasUnread { forbidReuse() }
      answered()
    }

    /// Bytes of its connection lie in the TLS library, or that cannot be told.
    var hasUnread: Bool { origin.isSecure && ccurl_easy_tls_pending(handle.pointer) != 0 }

    /// Has libcurl close the connection behind this exchange. One that carried no request would hold up those that follow:
    /// newer libcurls wait until they know what it speaks.
    func forbidReuse(_ isForbidden: Bool = true) {
      guard forbidsReuse != isForbidden else { return }
      forbidsReuse = isForbidden
      ccurl_easy_set_long(handle.pointer, CCOPT_FORBID_REUSE, isForbidden ? 1 : 0)
    }

    /// The whole answer is there. What is left of the request is not sent: no server has to read it (RFC 9113 §8.1), and
    /// libcurl would wait until it was.
    func answered() {
      guard sendsBody, !isSent, !isAnswered else { return }
      isAnswered = true
      loop.settle(self)
    }
  }
#endif
