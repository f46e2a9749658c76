#if os(Linux)
  import CCurl
  import ErrandFoundation

  /// One request under way over libcurl.
  ///
  /// Invariant behind `@unchecked Sendable`: the caller's thread sets it up, then hands it to the loop; from then on
  /// the handle and all variables are the loop's. What both sides see is behind the locks.
  final class CurlTransfer: @unchecked Sendable, Timed {
    let handle: CurlHandle
    let shard: CurlShard
    let origin: Origin
    let isLongLived: Bool
    let mayRepeat: Bool
    let expectsContinue: Bool
    let rules: CurlRules
    /// The rule for the address that it is carried to.
    let addresses: AddressPolicy
    /// An address was connected to that is allowed.
    var hasAllowedAddress = false
    let sendsBody: Bool
    /// Fields follow its body.
    let sendsTrailers: Bool
    /// No other stream shares its connection: see ``CurlLibrary/mixesStreams``.
    let isAlone: Bool
    /// The timings of its connection are noted with the head.
    let notesPhases: Bool
    /// Its response may have content, as that to a HEAD may not.
    let asksForBody: Bool
    let statedLength: Int64?
    let incoming = Lock(Incoming())
    let outgoing: Outgoing?

    // The loop's own. What every line and socket event touches is not checked for overlapping accesses at run time: one
    // thread uses it, and nothing called from within an access comes back to it.
    var resolveList: UnsafeMutablePointer<ccurl_slist>?
    /// It may be one stream of several; then libcurl's remarks are read.
    let mayMultiplex: Bool
    var stream: StreamFate?
    private(set) var localPort: Int32 = 0
    var multi: CurlMulti?
    var lastMulti: CurlMulti?
    /// Its place in a line for connections; nil where they have no limit.
    var place: ConnectionLine<CurlTransfer>.Place?
    var heapIndex = -1
    private(set) var deadline = UInt64.max
    var isMarked = false
    var isOver = false
    var isMultiplexed = false
    private(set) var sendCount = 0
    /// The number of times that the request may still be written.
    var sendsLeft: Int
    /// The number of sends that had no effect: the server said so, or nothing was written.
    var refusals = 0
    /// Whether the server did nothing with the last send, and said so.
    var isRefused = false
    /// When libcurl got the transfer, and when the final response began; 0 before.
    var startedAt: UInt64 = 0
    var answeredAt: UInt64 = 0
    @exclusivity(unchecked) var timers: TransferTimers
    @exclusivity(unchecked) var head = HeadLines()
    /// The socket of its connection.
    var socket = SocketWatch.Key()
    /// The proxy that it goes by.
    var proxy: String?
    /// libcurl tells each line before it keeps it: see ``CurlLibrary/losesFirstField``.
    var isGuarded = false
    var beginsFolded = false
    /// Whether libcurl's word that the stream was refused is about the last send. It may keep the flag of a send before.
    var trustsRefusals = true
    /// Whether its connection carried another stream concurrently, which may be the one that ended it.
    var hasCompany = false
    /// Whether it was resent because its pooled connection was stale, or because the server refused it. This happens once.
    var hasStartedAfresh = false
    /// It went out once more without its expectation.
    var hasDroppedExpectation = false
    /// Its connection is not used again.
    var forbidsReuse = false
    /// The sockets that were opened for it.
    var opened: [Int32] = []
    /// Its body ends with its connection, and no alert has closed that.
    var lacksAlert = false
    /// Its pooled connection had something to say before the request was written.
    var isRejected = false
    /// The whole answer is there, before the whole request was sent.
    var isAnswered = false
    /// The whole request was handed over.
    private(set) var isSent = false
    /// The number of libcurl's reports of progress since; nil where none is wanted.
    var reportsSinceSent: Int?
    /// libcurl's clock of its connection before that stood; nil where no request is awaited: see
    /// ``CurlLibrary/hasRequestCallback``.
    var unconnectedAt: Int64?
    var pauses: Int32 = 0
    /// libcurl wants to read the connection, and to write to it.
    var interest = (reads: true, writes: true)
    /// Bytes of the body, as libcurl hands them over.
    var received: Int64 = 0
    var failure: TaskError?

    init(
      _ request: HTTPRequest, _ rules: CurlRules, handle: CurlHandle, shard: CurlShard, origin: Origin,
      mayMultiplex: Bool, outbox: TransferOutbox?, addresses: AddressPolicy = .any
    ) {
      self.handle = handle
      self.shard = shard
      self.origin = origin
      self.mayMultiplex = mayMultiplex
      isLongLived = request.options.isLongLived
      mayRepeat = request.options.mayRepeat
      expectsContinue = outbox != nil && !request.body.isEmpty && request.expectsContinue
      sendsLeft = mayRepeat ? 2 : 1
      self.rules = rules
      self.addresses = addresses
      sendsBody = outbox != nil
      sendsTrailers = request.body.trailers != nil
      notesPhases = request.options.onHead != nil
      asksForBody = request.method != .head
      statedLength = outbox?.statedLength
      // A limit on connections holds within a multi, so that there is but one for them all.
      let isLimited = rules.configuration.connectionsPerOrigin > 0
      let isBrief = outbox.map { $0.statedLength.map { $0 <= Self.firstWindow } ?? false } ?? true
      isAlone = mayMultiplex && CurlLibrary.mixesStreams && !isLimited && (!isBrief || expectsContinue)
      outgoing = outbox.map { Outgoing($0, of: request.body) }
      timers = TransferTimers(
        request.options.timeouts, at: 0, waits: rules.configuration.connectionsPerOrigin > 0)
    }

    /// The bytes that a stream may send before the server says more (RFC 9113 §6.9.2).
    private static let firstWindow: Int64 = 65_535

    var loop: CurlLoop { shard.loop }
    /// Its connection carries no other exchange: see ``CurlLibrary/restartsHTTP2``.
    var isOnlyOne: Bool { CurlLibrary.restartsHTTP2 && mayMultiplex && !origin.isSecure }
    /// Its line for a connection. libcurl counts those to an HTTP proxy as the proxy's.
    var lineKey: String { proxy.flatMap { origin.isSecure ? nil : $0 } ?? origin.description }
    var group: CurlGroup.ID { shard.group }

    /// True where the response may have content (RFC 9110 §6.4.1).
    var mayHaveBody: Bool { asksForBody && head.status != 204 && head.status != 304 }

    // MARK: On the loop

    func begin(at now: UInt64) {
      timers.restart(at: now)
      deadline = timers.next?.instant ?? .max
      handle.clearRemark()
    }

    /// The error of the timer that has fired; nil when none has yet, and the deadline has moved.
    func expired(at now: UInt64) -> TaskError? {
      guard let next = timers.next else {
        deadline = .max
        return nil
      }
      deadline = next.instant
      guard next.instant <= now else { return nil }
      var error = TaskError.timeout(
        next.timer, after: .nanoseconds(Int64(clamping: next.limit)), phase: timers.phase,
        isSurelyNotSent: isSurelyNotSent)
      if timers.phase == .sending, pauses & CCPAUSE_SEND != 0 {
        error.reason += ": the source of its body gave nothing"
        error.awaitedSource = true
      }
      return error
    }

    /// The connection stands and the request is about to be written; false when it may not be, once more.
    func maySend(from port: Int32) -> Bool {
      guard sendsLeft > 0, !head.isComplete else {
        // libcurl keeps a connection that may carry streams.
        loop.stands(self, connectionFrom: port)
        forbidReuse()
        return refuseSend()
      }
      if !loop.takes(self, connectionFrom: port), !hasStartedAfresh {
        isRejected = true
        forbidReuse()
        return false
      }
      if place != nil { loop.foundConnection(self) }
      if !opened.isEmpty { loop.forgetClosed(of: self) }
      if isRefused { hasStartedAfresh = true }  // libcurl resends a refused stream by itself
      isRefused = false
      sendsLeft -= 1
      sendCount += 1
      answeredAt = 0
      stream = nil
      localPort = port
      head = HeadLines()
      isSent = statedLength == 0  // it is not asked for
      timers.connected(at: loop.now, sendsBody: sendsBody && !isSent)
      rescheduled()
      beginReading()
      return true
    }

    /// Refuses another send. What came before it is the response, whose body libcurl has thrown away.
    private func refuseSend() -> Bool {
      if head.isComplete {
        failure = TaskError(
          .truncatedBody, "the body of the response was not kept, for libcurl was to send the request again",
          phase: .receiving)
      }
      return false
    }

    /// Fills libcurl's buffer with what is to be sent.
    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
      guard let outgoing else { return 0 }
      if stream != nil { loop.sockets.asked(socket.descriptor) }
      let (step, isDrained, pump) = outgoing.state.withLock { outgoing in
        let step = outgoing.outbox.take(into: buffer)
        var pump: Waiter<Void>?
        if !outgoing.outbox.isFull { swap(&pump, &outgoing.pump) }
        return (step, outgoing.outbox.isDrained, pump)
      }
      pump?.resume()
      switch step {
      case .send(let count):
        timers.moved(at: loop.now)
        // libcurl does not ask again where it knows the length.
        if isDrained, statedLength != nil { sent() }
        return count
      case .abort: return Int(CC_READFUNC_ABORT)
      case .pause:
        // The idle limit goes on: that the source gives nothing is no reason to wait for a peer that is gone.
        pauses |= CCPAUSE_SEND
        return Int(CC_READFUNC_PAUSE)
      case .end:
        sent()
        return 0
      }
    }

    private func sent() {
      guard !isSent else { return }
      isSent = true
      timers.sent(at: loop.now)
      rescheduled()
    }

    /// The body is to be sent from its beginning again; false where it cannot or must not.
    func rewind() -> Bool {
      guard sendsLeft > 0, let outgoing else { return false }
      guard outgoing.state.withLock({ $0.outbox.rewind() }) || restartReading() else { return false }
      // A request that begins again is not paused, and libcurl resumes none without a connection.
      pauses &= ~CCPAUSE_SEND
      isSent = false
      return true
    }

    /// It has not to wait for others to end: a connection is being made.
    func connecting() {
      timers.connecting(at: loop.now)
      rescheduled()
    }

    /// A connection of this transfer's is being made.
    func opened(_ descriptor: Int32) {
      // Or a child process of the app inherits it, and the server never sees the connection closed.
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      loop.opened(descriptor, by: self)
      opened.append(descriptor)
      if !CurlLibrary.hasRequestCallback { unconnectedAt = connectedAt }
      connecting()
    }

    /// True until its connection stands.
    var isConnecting: Bool { timers.phase == .connecting }

    /// Has libcurl look at it soon, though nothing was reported and no time is up.
    func rouse() {
      ccurl_easy_pause(handle.pointer, CCPAUSE_RECV)
      ccurl_easy_pause(handle.pointer, CCPAUSE_CONT)
    }

    /// Lets the connection go on in both directions; libcurl may call back before this returns.
    ///
    /// Returns its code: what it held while the transfer was paused is handed over here, and where that is refused it
    /// says so only now. The transfer would go on, and end as if nothing were missing.
    func unpause(at now: UInt64) -> Int32 {
      guard pauses != 0 else { return CCE_OK }
      pauses = 0
      timers.isHeld = false
      timers.moved(at: now)
      let code = ccurl_easy_pause(handle.pointer, CCPAUSE_CONT)
      rescheduled()
      return code
    }

    func rescheduled() {
      let instant = timers.next?.instant ?? .max
      guard instant < deadline else { return }  // a later one is noticed when the earlier fires
      deadline = instant
      loop.reschedule(self)
    }
  }

  extension HTTPRequest {
    /// True where its body waits for a 100: by its options, or by a field of its own.
    fileprivate var expectsContinue: Bool {
      options.continueTimeout != nil || headers[.expect].map { $0.lowercased().contains("100-continue") } ?? false
    }
  }
#endif
