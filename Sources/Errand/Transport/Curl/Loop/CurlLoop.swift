#if os(Linux)
  import CCurl
  import ErrandFoundation

  /// A thread that drives libcurl transfers with one epoll instance and several multi handles.
  ///
  /// `Docs/decisions/0002-the-curl-loop.md` contains the rules and the measurements. In short: only this thread touches
  /// active libcurl handles. Other threads push commands. The loop never blocks before it has reported finished
  /// transfers.
  ///
  /// Safety of `@unchecked Sendable`: all variables except the command queue are only accessed on the loop's own
  /// thread.
  final class CurlLoop: @unchecked Sendable {
    private struct Inbound {
      var commands: [Command] = []
      var lastGroup: CurlGroup.ID = 0
    }

    /// The loops of the process (one per processor, at most four), or the error if they can't be created.
    static let all = Result<[CurlLoop], TaskError> { () throws(TaskError) in
      if let problem = CurlLibrary.problem { throw unavailable(problem) }
      var loops: [CurlLoop] = []
      for _ in 0..<min(4, max(1, ProcessInfo.processInfo.activeProcessorCount)) { loops.append(try started()) }
      return loops
    }

    private static func started() throws(TaskError) -> CurlLoop {
      guard let loop = CurlLoop() else {
        throw unavailable("could not create an epoll or event descriptor: \(String(cString: strerror(errno)))")
      }
      guard DetachedThread.start("errand-curl", { loop.run() }) else {
        throw unavailable("could not create a thread")
      }
      return loop
    }

    private let inbound = Lock(Inbound())
    private let epoll: Int32
    private let wakeUp: Int32

    @exclusivity(unchecked) var groups: [CurlGroup.ID: CurlGroup] = [:]
    @exclusivity(unchecked) var multis: [UInt32: CurlMulti] = [:]
    var lastMulti: UInt32 = 0
    @exclusivity(unchecked) var timers = DeadlineHeap<CurlTransfer>()
    @exclusivity(unchecked) private var ready: [CurlTransfer] = []
    /// Groups that may be freed at the end of this iteration.
    var untidy: [CurlGroup.ID] = []
    /// Transfers whose response began in this iteration, before their request was sent.
    var early: [CurlTransfer] = []
    /// Transfers to end after this iteration.
    var settled: [CurlTransfer] = []
    @exclusivity(unchecked) var sockets: SocketWatch
    var owners: [Int32: Owner] = [:]
    /// The descriptors of connections, by local port.
    var ports: [Int32: Int32] = [:]
    /// Whether connections to two hosts have had the same local port.
    var sharesPorts = false
    /// Transfers that failed to connect to an address.
    @exclusivity(unchecked) var stalled: [CurlTransfer] = []
    var moved: [(group: CurlGroup.ID, line: String)] = []
    /// Idle connections with an event in this iteration.
    var spoken: [Int32] = []
    /// Sockets that are not polled for writing until ``restEnd``.
    var resting: [Int32] = []
    var restEnd = UInt64.max
    /// The instant at which the next idle connection may expire.
    var idleCheck = UInt64.max
    /// Idle connections that libcurl has yet to close or read.
    @exclusivity(unchecked) var dying: [Int32: Dying] = [:]
    /// The instant of the next sweep, which makes libcurl close or read the connections in ``dying``.
    var sweepCheck = UInt64.max
    let sweeper = CurlSweeper()
    private(set) var commands: [Command] = []
    /// The instant at which no idle connection outside ``spoken`` had unread data, or 0 if unknown.
    var silence: UInt64 = 0
    let pulse = CurlWatchdog.Pulse()
    /// A socket whose other end is closed.
    let dead: Int32
    /// A socket that was never connected, for QUIC, which would read empty datagrams from ``dead`` forever.
    let unconnected: Int32
    @exclusivity(unchecked) private(set) var now = CurlLibrary.now

    private init?() {
      epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
      wakeUp = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
      sockets = SocketWatch(epoll: epoll)
      dead = Self.makeDeadSocket()
      unconnected = socket(AF_INET, Self.socketFlags, 0)
      guard epoll >= 0, wakeUp >= 0, dead >= 0, unconnected >= 0 else { return nil }
      var event = epoll_event(events: EPOLLIN.rawValue | EPOLLET.rawValue, data: epoll_data_t(u64: Self.wakeUpMark))
      guard epoll_ctl(epoll, EPOLL_CTL_ADD, wakeUp, &event) == 0 else { return nil }
    }

    /// The epoll data of the eventfd, which is edge-triggered: it is reported once per write, and never read.
    private static let wakeUpMark = UInt64.max

    private static let socketFlags = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)

    private static func makeDeadSocket() -> Int32 {
      var pair: [Int32] = [-1, -1]
      guard socketpair(AF_UNIX, socketFlags, 0, &pair) == 0 else { return -1 }
      Descriptor.release(pair[1])
      return pair[0]
    }

    static func unavailable(_ reason: String) -> TaskError {
      TaskError(
        .transportUnavailable, "the libcurl transport is unavailable: \(reason)", phase: .preparing,
        wasNotSent: true)
    }

    // MARK: From any thread

    /// Adds a command to the current batch and wakes the loop once per batch.
    func push(_ command: Command) {
      let isFirst = inbound.withLock { inbound in
        inbound.commands.append(command)
        return inbound.commands.count == 1
      }
      guard isFirst else { return }
      var one: UInt64 = 1
      _ = write(wakeUp, &one, MemoryLayout<UInt64>.size)  // if the counter is full, the loop wakes anyway
    }

    private func takeCommands() {
      inbound.withLock { swap(&commands, &$0.commands) }
    }

    func newGroup() -> CurlGroup.ID {
      inbound.withLock { inbound in
        inbound.lastGroup += 1
        return inbound.lastGroup
      }
    }

    // MARK: The loop

    private func run() {
      // Block SIGPIPE, which libcurl doesn't handle here: its TLS library may write to a closed connection. The threads
      // for name lookups inherit the mask.
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGPIPE)
      pthread_sigmask(SIG_BLOCK, &signals, nil)

      pulse.begin()
      let capacity = 256
      let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: capacity)
      defer { events.deallocate() }
      while true {
        carryOutCommands()
        commands.removeAll(keepingCapacity: true)  // don't keep transfers alive during the wait
        fireTimers()
        pulse.enter()
        for multi in multis.values { multi.expire(at: now) }
        pulse.leave()
        endSettled()
        startWaiting()
        tidy()
        wakeReaders()
        silence = 0
        let count = max(0, Int(epoll_wait(epoll, events, Int32(capacity), timeout())))
        now = CurlLibrary.now
        // Take the commands before handling the events. Unsolicited data that arrived before a command was pushed is
        // then among the events, unless it arrived after the wait.
        if (0..<count).contains(where: { events[$0].data.u64 == Self.wakeUpMark }) { takeCommands() }
        if now >= restEnd { endRests() }
        for index in 0..<count {
          handle(events[index])
          // Readers can run in parallel, so don't let them wait for the last event.
          if ready.count >= 8 { wakeReaders() }
        }
        // Do this before carrying out the commands: the next request must not read unsolicited data.
        closeIdle()
        if count < capacity { silence = now }
      }
    }

    private func handle(_ event: epoll_event) {
      guard event.data.u64 != Self.wakeUpMark else { return }
      let descriptor = Int32(truncatingIfNeeded: event.data.u64)
      // If the multi has been freed, its events are dropped.
      let report = sockets.report(descriptor)
      switch report {
      case .wanted, .left:
        // When libcurl 8.21 closes a connection, it waits for the peer to close it too but does not ask for its events.
        pulse.enter()
        multis[UInt32(event.data.u64 >> 32)]?.socketAction(descriptor, events: event.events)
        pulse.leave()
        if report == .wanted { heed(event.events, of: descriptor) }
      case .idle: spoken.append(descriptor)
      case .unwanted: break
      }
    }

    func wake(_ transfer: CurlTransfer) {
      guard !transfer.isMarked else { return }
      transfer.isMarked = true
      ready.append(transfer)
    }

    private func wakeReaders() {
      for transfer in ready {
        transfer.isMarked = false
        transfer.resumeReader()
      }
      ready.removeAll(keepingCapacity: true)
    }

    /// Frees groups whose transport has been released and whose transfers have ended. Runs only at the end of an
    /// iteration, because a multi must not be freed while it reports finished transfers.
    private func tidy() {
      for id in untidy {
        guard let group = groups[id], group.isClosed, group.isIdle else { continue }
        for multi in group.multis {
          multis[multi.id] = nil
          multi.close()
        }
        groups[id] = nil
      }
      untidy.removeAll()
    }
  }
#endif
