#if os(Linux)
  import CCurl
  import ErrandFoundation

  extension CurlTransfer {
    /// Handles a line of the head or the trailer. Returns `false` to end the transfer.
    func receive(line: UnsafeRawBufferPointer) -> Bool {
      let rules = HeadLines.Rules(answers417: mayDropExpectation, isMultiplexed: stream != nil)
      if head.awaitsStatus { answeredAt = CurlLibrary.now }
      switch head.take(line, rules) {
      case .more: break
      case .complete: publishHead()
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

    var isOnPooledConnection: Bool {
      var connections = 0
      ccurl_easy_get_long(handle.pointer, CCINFO_NUM_CONNECTS, &connections)
      return connections == 0
    }

    /// Makes libcurl report the line after the status line before storing it.
    private func guardFirstField() {
      guard !mayMultiplex, head.awaitsFirstField != isGuarded else { return }
      isGuarded = head.awaitsFirstField
      ccurl_easy_set_long(handle.pointer, CCOPT_VERBOSE, isGuarded ? 1 : 0)
    }

    func inspect(line: UnsafeMutableRawBufferPointer) {
      guard CurlLibrary.losesFirstField, head.awaitsFirstField, let first = line.first else { return }
      guard first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") else { return }
      beginsFolded = true
      line[0] = UInt8(ascii: "\r")  // libcurl doesn't store an empty line
    }

    func isWatched(reads: Bool, writes: Bool) {
      interest = (reads, writes)
      settleIfStuck()
    }

    /// Ends the exchange after this iteration of the loop if libcurl has stopped reading its connection.
    func settleIfStuck() {
      guard isStuck else { return }
      // If libcurl has failed, it reports that before the iteration ends.
      if interest.writes, verdict == CCE_OK { answered() } else { loop.settle(self) }
    }

    /// Whether libcurl has stopped reading the connection although the transfer is not paused: the entire response was
    /// read, or the connection is ending. libcurl 7.88 would still wait until the request is sent, which never happens
    /// if the source of its body is paused.
    var isStuck: Bool {
      guard !interest.reads, sendsBody, !isSent, sendCount > 0, stream == nil, pauses & CCPAUSE_RECV == 0 else {
        return false
      }
      // Before the response head arrives, libcurl does not read while it writes the request head.
      return (head.isComplete || !interest.writes && pauses & CCPAUSE_SEND != 0) && loop.sockets.isOpen(socket)
    }

    /// The result code of a stuck transfer. libcurl does not say whether it has read all chunks, so if the connection
    /// has ended, the body may be truncated.
    var verdict: Int32 {
      guard head.isComplete else { return CCE_GOT_NOTHING }
      if !mayHaveBody { return CCE_OK }
      let isWhole =
        head.framing.bodyLength.map { $0 == received } ?? (head.framing.isOpenEnded || !loop.hasEnded(socket))
      return isWhole ? CCE_OK : CCE_PARTIAL_FILE
    }

    /// Whether libcurl resends the request without its expectation after a 417, which it does if no part of the body
    /// was sent.
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
        notesPhases ? timings(CurlFacts(handle, sendCount: sendCount, wasNotSent: false)) : nil
      incoming.withLock { incoming in
        if let phases { incoming.phases = phases }
        incoming.inbox.receive(head: bytes)
        incoming.isConnectionReused = isConnectionReused
      }
      loop.wake(self)
      // The end of an ambiguous response is uncertain. Leftover bytes must not become the next response (RFC 9112
      // §6.1).
      if head.framing.isAmbiguous { forbidReuse() }
      if head.framing.bodyLength == 0 || !mayHaveBody { answered() }
      if sendsBody, !isSent, !isAnswered { loop.early.append(self) }
      if origin.isSecure, stream == nil, head.framing.isOpenEnded, mayHaveBody { watchForAlert() }
      countReports()
    }

    /// Detects a missing TLS close alert if the body ends with the connection. An attacker may have closed the
    /// connection (RFC 9112 §9.8), but libcurl treats the body as complete.
    private func watchForAlert() {
      lacksAlert = ccurl_easy_tls_lacks_end(handle.pointer) == 1
      guard lacksAlert else { return }
      forbidReuse()
      // Between reading the end of the connection and closing it, libcurl only reports progress.
      followProgress()
    }

    /// Handles a chunk of the body. Returns the size of the chunk, or the code that pauses the transfer.
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
      // libcurl stops reading at the declared length. Trailing bytes in the same TLS record stay in the TLS library,
      // where no socket event reports them, and would be read as the next response.
      if stream == nil, hasUnread { forbidReuse() }
      answered()
    }

    /// Whether the TLS library holds unread bytes from the connection, or can't tell.
    var hasUnread: Bool { origin.isSecure && ccurl_easy_tls_pending(handle.pointer) != 0 }

    /// Makes libcurl close the connection after this exchange. A connection that carried no request would delay the
    /// next exchanges, because newer versions of libcurl wait until they know the connection's protocol.
    func forbidReuse(_ isForbidden: Bool = true) {
      guard forbidsReuse != isForbidden else { return }
      forbidsReuse = isForbidden
      ccurl_easy_set_long(handle.pointer, CCOPT_FORBID_REUSE, isForbidden ? 1 : 0)
    }

    /// Ends the exchange because the entire response has arrived. The rest of the request is not sent: the server
    /// doesn't have to read it (RFC 9113 §8.1), but libcurl would wait until it is sent.
    func answered() {
      guard sendsBody, !isSent, !isAnswered else { return }
      isAnswered = true
      loop.settle(self)
    }
  }
#endif
