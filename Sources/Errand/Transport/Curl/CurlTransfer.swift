#if os(Linux)
  import CCurl
  import Foundation

  /// A libcurl easy handle; freed with the last reference.
  ///
  /// Invariant behind `@unchecked Sendable`: one owner at a time uses it, a transfer or the pool.
  final class CurlHandle: @unchecked Sendable {
    let pointer: OpaquePointer
    /// What its options are set for, beside those that every request sets anew; nil where it must be reset.
    var plain: Plain?
    /// The last address that was parsed for it.
    var address = ""
    var parsedAddress: OpaquePointer?

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit {
      ccurl_easy_cleanup(pointer)
      if let parsedAddress { ccurl_url_cleanup(parsedAddress) }
    }
  }

  /// One request under way over libcurl.
  ///
  /// Invariant behind `@unchecked Sendable`: the caller's thread sets it up, then hands it to the loop; from then on
  /// the handle and all variables are the loop's. What both sides see is behind the locks.
  final class CurlTransfer: @unchecked Sendable, Timed {
    let handle: CurlHandle
    let shard: CurlShard
    let origin: Origin
    let isLongLived: Bool
    private let timeouts: Timeouts
    private let mostGoes: Int
    private let answersDigest: Bool
    private let rules: CurlRules
    let sendsBody: Bool
    let statedLength: Int64?
    let incoming = Lock(Incoming())
    let outgoing: Outgoing?

    // The loop's own.
    var headerList: UnsafeMutablePointer<ccurl_slist>?
    var resolveList: UnsafeMutablePointer<ccurl_slist>?
    /// Whether it may be one stream of several; then libcurl is listened to for what becomes of it.
    let mayBeStream: Bool
    var stream: StreamFate?
    private(set) var localPort: Int32 = 0
    var multi: CurlMulti?
    var lastMulti: CurlMulti?
    var heapIndex = -1
    private(set) var deadline = UInt64.max
    var isMarked = false
    private(set) var isOver = false
    private(set) var isMultiplexed = false
    private(set) var goes = 0
    /// How many of them the server has said that it did nothing with.
    private(set) var refusals = 0
    private var timers: TransferTimers
    private var head = HeadLines()
    private var pauses: Int32 = 0
    private var bodySize: Int64 = 0

    init(
      _ request: HTTPRequest, _ rules: CurlRules, handle: CurlHandle, shard: CurlShard, origin: Origin,
      mayBeStream: Bool, outbox: TransferOutbox?
    ) {
      self.handle = handle
      self.shard = shard
      self.origin = origin
      self.mayBeStream = mayBeStream
      isLongLived = request.options.isLongLived
      timeouts = request.options.timeouts
      answersDigest = request.options.digest != nil
      mostGoes = (request.options.mayRepeat ? 2 : 1) + (answersDigest ? 1 : 0)
      self.rules = rules
      sendsBody = outbox != nil
      statedLength = outbox?.statedLength
      outgoing = outbox.map { Outgoing($0) }
      timers = TransferTimers(timeouts, at: 0)
    }

    var loop: CurlLoop { shard.loop }
    var connectionsPerOrigin: Int { rules.configuration.connectionsPerOrigin }
    var group: CurlGroup.ID { shard.group }

    // MARK: On the loop

    func begin(at now: UInt64) {
      timers = TransferTimers(timeouts, at: now, waits: connectionsPerOrigin > 0)
      deadline = timers.next?.instant ?? .max
    }

    /// The error of the timer that has fired; nil when none has yet, and the deadline has moved.
    func expired(at now: UInt64) -> TaskError? {
      guard let next = timers.next else {
        deadline = .max
        return nil
      }
      deadline = next.instant
      guard next.instant <= now else { return nil }
      return .timeout(
        next.timer, after: .nanoseconds(Int64(clamping: next.limit)), phase: timers.phase,
        isSurelyNotSent: isSurelyNotSent)
    }

    /// The connection stands and the request is about to be written; false when it may not be, once more.
    func mayGo(from port: Int32) -> Bool {
      guard goes < mostGoes else { return false }
      goes += 1
      stream = nil
      localPort = port
      timers.connected(at: loop.now, sendsBody: sendsBody)
      rescheduled()
      return true
    }

    /// A line of the head, or of the trailers.
    func receive(line: UnsafeRawBufferPointer) {
      switch head.take(line, beginsAnew: goes > 1, passesOver401: answersDigest && goes < mostGoes) {
      case .more: break
      case .complete: publishHead()
      case .trailer: incoming.withLock { $0.inbox.receive(trailer: line) }
      }
    }

    private func publishHead() {
      timers.responded(at: loop.now)
      rescheduled()
      var connections = 0
      ccurl_easy_get_long(handle.pointer, CCINFO_NUM_CONNECTS, &connections)
      let bytes = head.bytes
      incoming.withLock { incoming in
        incoming.inbox.receive(head: bytes)
        incoming.isConnectionReused = connections == 0
      }
      loop.wake(self)
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
      bodySize += Int64(body.count)
      loop.wake(self)
      return body.count
    }

    /// Fills libcurl's buffer with what is to be sent.
    func fill(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
      guard let outgoing else { return 0 }
      timers.moved(at: loop.now)
      let (step, pump) = outgoing.state.withLock { outgoing in
        let step = outgoing.outbox.take(into: buffer)
        var pump: UnsafeContinuation<Void, Never>?
        if !outgoing.outbox.isFull { swap(&pump, &outgoing.pump) }
        return (step, pump)
      }
      pump?.resume()
      switch step {
      case .send(let count): return count
      case .abort: return Int(CC_READFUNC_ABORT)
      case .pause:
        pauses |= CCPAUSE_SEND
        timers.isHeld = true
        return Int(CC_READFUNC_PAUSE)
      case .end:
        timers.sent(at: loop.now)
        rescheduled()
        return 0
      }
    }

    /// The body is to be sent from its beginning again; false where it cannot or must not.
    func rewind() -> Bool {
      guard goes < mostGoes, let outgoing else { return false }
      return outgoing.state.withLock { $0.outbox.rewind() }
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
      connecting()
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

    /// libcurl is done.
    func complete(_ code: Int32) {
      let facts = CurlFacts(handle.pointer, goes: goes, isSurelyNotSent: isSurelyNotSent)
      isMultiplexed = facts.version == .http2
      // A challenge that libcurl had no answer to is the response.
      if code == CCE_OK, head.completeAsItIs() { publishHead() }
      if code == CCE_OK, head.isComplete {
        var timings = facts.timings
        timings.bytesDecoded = bodySize
        finish(.success(timings))
      } else {
        finish(
          .failure(
            facts.failure(code, phase: timers.phase, bodyFailure: outgoing?.state.withLock { $0.outbox.failure })))
      }
    }

    func finish(_ outcome: Result<TransferTimings, any Error>) {
      let outcome = outcome.mapError { timed($0) }
      end()
      incoming.withLock { $0.inbox.finish(outcome) }
    }

    func abandon(_ error: any Error) {
      end()
      incoming.withLock { [error = timed(error)] in $0.inbox.abandon(error) }
    }

    /// Before the reader knows, who may begin the next at once.
    private func end() {
      if !isOver { shard.pool.ended() }
      isOver = true
    }

    /// Gives the handle back and stops whoever reads the body to send.
    func release() {
      ccurl_header_list_free(headerList)
      headerList = nil
      if resolveList != nil { ccurl_easy_set_slist(handle.pointer, CCOPT_RESOLVE, nil) }  // it would be read again
      ccurl_slist_free(resolveList)
      resolveList = nil
      let isPristine = self.isPristine
      if !isPristine { handle.plain = nil }  // libcurl counts in the handle how often it began anew
      if mayBeStream { ccurl_easy_set_long(handle.pointer, CCOPT_VERBOSE, 0) }  // what it would tell is gone
      // libcurl keeps in the handle that a stream was refused, and would take the next lost connection for the same.
      if !mayBeStream || isPristine { shard.pool.giveBack(handle) }
      guard let outgoing else { return }
      let (pump, reader) = outgoing.state.withLock { outgoing in
        var pump: UnsafeContinuation<Void, Never>?
        swap(&pump, &outgoing.pump)
        _ = outgoing.outbox.fail(CancellationError())
        return (pump, outgoing.reader)
      }
      reader?.cancel()
      pump?.resume()
    }

    /// Whether the server surely saw nothing of the request, or said that it heeded nothing of it.
    var isSurelyNotSent: Bool { refusals == goes }

    private var isPristine: Bool {
      if case .success = incoming.withLock({ $0.inbox.outcome }) { goes == 1 } else { false }
    }

    /// The server will do nothing with the stream of this go.
    func refuse() {
      guard let stream, !stream.isRefused, head.bytes.isEmpty, !head.isComplete else { return }
      self.stream?.isRefused = true
      refusals += 1
    }

    private func rescheduled() {
      let instant = timers.next?.instant ?? .max
      guard instant < deadline else { return }  // a later one is noticed when the earlier fires
      deadline = instant
      loop.reschedule(self)
    }
  }
#endif
