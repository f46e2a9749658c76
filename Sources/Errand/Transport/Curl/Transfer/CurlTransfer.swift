#if os(Linux)
  import CCurl
  import ErrandFoundation

  /// A request that libcurl is processing.
  ///
  /// Safety of `@unchecked Sendable`: the caller's thread sets up the transfer and passes it to the loop. From then on,
  /// only the loop uses the handle and the variables. Locks protect the state that both sides use.
  final class CurlTransfer: @unchecked Sendable, Timed {
    let handle: CurlHandle
    let shard: CurlShard
    let origin: Origin
    let isLongLived: Bool
    let mayRepeat: Bool
    let expectsContinue: Bool
    let rules: CurlRules
    let addresses: AddressPolicy
    var hasAllowedAddress = false
    let sendsBody: Bool
    let sendsTrailers: Bool
    /// Whether no other stream shares the transfer's connection: see ``CurlLibrary/mixesStreams``.
    let isAlone: Bool
    let notesPhases: Bool
    /// `false` for HEAD, whose response has no body.
    let asksForBody: Bool
    let statedLength: Int64?
    let incoming = Lock(Incoming())
    let outgoing: Outgoing?

    // Only the loop uses the variables below. Exclusivity checks are disabled for variables that every line and socket
    // event uses: only one thread uses them, and no code called during an access uses them again.
    var resolveList: UnsafeMutablePointer<ccurl_slist>?
    /// Whether the transfer can share a connection with other streams. If so, libcurl's debug messages are read.
    let mayMultiplex: Bool
    var stream: StreamFate?
    private(set) var localPort: Int32 = 0
    var multi: CurlMulti?
    var lastMulti: CurlMulti?
    /// The position in the queue for connections, or `nil` if connections are not limited.
    var place: ConnectionLine<CurlTransfer>.Place?
    var heapIndex = -1
    private(set) var deadline = UInt64.max
    var isMarked = false
    var isOver = false
    var isMultiplexed = false
    private(set) var sendCount = 0
    var sendsLeft: Int
    /// The number of sends that had no effect because the server refused them or nothing was written.
    var refusals = 0
    var isRefused = false
    /// When libcurl received the transfer, and when the final response began, or 0 before then.
    var startedAt: UInt64 = 0
    var answeredAt: UInt64 = 0
    @exclusivity(unchecked) var timers: TransferTimers
    @exclusivity(unchecked) var head = HeadLines()
    var socket = SocketWatch.Key()
    var proxy: String?
    /// Whether libcurl reports each line before storing it: see ``CurlLibrary/losesFirstField``.
    var isGuarded = false
    var beginsFolded = false
    /// Whether libcurl's message about a refused stream refers to the last send. libcurl may keep the flag from an
    /// earlier send.
    var trustsRefusals = true
    /// Whether the transfer's connection also carried another stream, which may have ended the connection.
    var hasCompany = false
    /// Whether the request was resent after a stale pooled connection or a refusal by the server. Happens at most once.
    var hasStartedAfresh = false
    var hasDroppedExpectation = false
    var forbidsReuse = false
    var opened: [Int32] = []
    /// Whether the body ends with the connection, and the TLS close alert is missing.
    var lacksAlert = false
    /// Whether the transfer's pooled connection was rejected before the request was written, for example because of
    /// unread data.
    var isRejected = false
    /// Whether the entire response arrived before the entire request was sent.
    var isAnswered = false
    private(set) var isSent = false
    /// The number of libcurl's progress reports since the request was sent, or `nil` if they are not counted.
    var reportsSinceSent: Int?
    /// The value of ``connectedAt`` before the current connection was established, or `nil` if the request is not
    /// waiting for the connection. Only used without ``CurlLibrary/hasRequestCallback``.
    var unconnectedAt: Int64?
    var pauses: Int32 = 0
    var interest = (reads: true, writes: true)
    /// The number of body bytes received.
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
      // Each multi enforces the connection limit separately, so limited transfers have to share one.
      let isLimited = rules.configuration.connectionsPerOrigin > 0
      let isBrief = outbox.map { $0.statedLength.map { $0 <= Self.firstWindow } ?? false } ?? true
      isAlone = mayMultiplex && CurlLibrary.mixesStreams && !isLimited && (!isBrief || expectsContinue)
      outgoing = outbox.map { Outgoing($0, of: request.body) }
      timers = TransferTimers(
        request.options.timeouts, at: 0, waits: rules.configuration.connectionsPerOrigin > 0)
    }

    /// The initial flow-control window of a stream, in bytes (RFC 9113 §6.9.2).
    private static let firstWindow: Int64 = 65_535

    var loop: CurlLoop { shard.loop }
    /// Whether the transfer's connection must not carry other exchanges: see ``CurlLibrary/restartsHTTP2``.
    var isOnlyOne: Bool { CurlLibrary.restartsHTTP2 && mayMultiplex && !origin.isSecure }
    /// The key of the queue in which the transfer waits for a connection. libcurl counts connections to an HTTP proxy
    /// per proxy, not per origin.
    var lineKey: String { proxy.flatMap { origin.isSecure ? nil : $0 } ?? origin.description }
    var group: CurlGroup.ID { shard.group }

    /// Whether the response can have content (RFC 9110 §6.4.1).
    var mayHaveBody: Bool { asksForBody && head.status != 204 && head.status != 304 }

    // MARK: On the loop

    func begin(at now: UInt64) {
      timers.restart(at: now)
      deadline = timers.next?.instant ?? .max
      handle.clearRemark()
    }

    /// Returns the error of a timer that has fired, or `nil` if the deadline has moved.
    func expired(at now: UInt64) -> TaskError? {
      guard let next = timers.next else {
        deadline = .max
        return nil
      }
      deadline = next.instant
      guard next.instant <= now else { return nil }
      var error = TaskError.timeout(
        next.timer, after: .nanoseconds(Int64(clamping: next.limit)), phase: timers.phase,
        wasNotSent: wasNotSent)
      if timers.phase == .sending, pauses & CCPAUSE_SEND != 0 {
        error.reason += ": the source of the request body provided no data"
        error.awaitedSource = true
      }
      return error
    }

    /// Called when the connection is established and the request is about to be written. Returns `false` to prevent
    /// that.
    func maySend(from port: Int32) -> Bool {
      guard sendsLeft > 0, !head.isComplete else {
        // Mark the connection as established, because libcurl keeps a connection that can carry streams.
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
      if isRefused { hasStartedAfresh = true }  // libcurl resends a refused stream on its own
      isRefused = false
      sendsLeft -= 1
      sendCount += 1
      answeredAt = 0
      stream = nil
      localPort = port
      head = HeadLines()
      isSent = statedLength == 0  // libcurl does not ask for an empty body
      timers.connected(at: loop.now, sendsBody: sendsBody && !isSent)
      rescheduled()
      beginReading()
      return true
    }

    /// Prevents another send. If a head was received, it is that of the response, whose body libcurl has discarded.
    private func refuseSend() -> Bool {
      if head.isComplete {
        failure = TaskError(
          .truncatedBody, "libcurl discarded the response body because it was about to resend the request",
          phase: .receiving)
      }
      return false
    }

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
        // If libcurl knows the length, it does not ask again after the last byte.
        if isDrained, statedLength != nil { sent() }
        return count
      case .abort: return Int(CC_READFUNC_ABORT)
      case .pause:
        // The idle timeout keeps running, because a slow source must not hide a dead peer.
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

    /// Prepares to resend the body from its beginning. Returns `false` if that is impossible or not allowed.
    func rewind() -> Bool {
      guard sendsLeft > 0, let outgoing else { return false }
      guard outgoing.state.withLock({ $0.outbox.rewind() }) || restartReading() else { return false }
      // Clear the flag: a restarted request starts unpaused, and libcurl can't unpause one that has no connection.
      pauses &= ~CCPAUSE_SEND
      isSent = false
      return true
    }

    func connecting() {
      timers.connecting(at: loop.now)
      rescheduled()
    }

    func opened(_ descriptor: Int32) {
      // Otherwise, child processes inherit the socket, and the server never sees the connection close.
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      loop.opened(descriptor, by: self)
      opened.append(descriptor)
      if !CurlLibrary.hasRequestCallback { unconnectedAt = connectedAt }
      connecting()
    }

    var isConnecting: Bool { timers.phase == .connecting }

    /// Makes libcurl check the transfer soon, without an event or a timeout.
    func rouse() {
      ccurl_easy_pause(handle.pointer, CCPAUSE_RECV)
      ccurl_easy_pause(handle.pointer, CCPAUSE_CONT)
    }

    /// Resumes the transfer in both directions. libcurl may call back before this returns, because it delivers the data
    /// that it buffered during the pause. Only the returned code reports a failure to deliver that data.
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
      guard instant < deadline else { return }  // a later deadline is set when the earlier one fires
      deadline = instant
      loop.reschedule(self)
    }
  }

  extension HTTPRequest {
    fileprivate var expectsContinue: Bool {
      options.continueTimeout != nil || headers[.expect].map { $0.lowercased().contains("100-continue") } ?? false
    }
  }
#endif
