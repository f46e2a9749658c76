public import ErrandFoundation

/// The manager of running tasks: throttling, cancellation and recording to disk.
///
/// Every server has one of its own unless it is given one to share; limits are then shared too.
public actor TaskManager {
  nonisolated let admission: AdmissionGate
  /// The desk for calls that hand their body to the caller, before they ask for a slot.
  nonisolated let streams: AdmissionGate
  nonisolated let calls = CallDesk()
  nonisolated let revalidations = RevalidationDesk()
  nonisolated let flights = FlightDesk()
  nonisolated let invalidations = InvalidationDesk()
  nonisolated let serialQueues = SerialQueues()
  nonisolated let clock: CallClock
  nonisolated let dates: DatedClock
  nonisolated let random: CallRandom
  nonisolated let retries: RetryDesk
  nonisolated let circuits: CircuitDesk
  private nonisolated let recorderBox = Lock<TaskRecorder?>(nil)

  /// A manager with the given limits.
  ///
  /// - Parameters:
  ///   - limits: How many attempts may be under way at once.
  ///   - retryBudget: How many repetitions each host may be sent.
  ///   - clock: By which calls wait and measure.
  ///   - random: What jitter is drawn from.
  public init(
    limits: ThrottleLimits = ThrottleLimits(), retryBudget: RetryBudget = .standard, clock: CallClock = .continuous,
    random: CallRandom = .system
  ) {
    self.init(uncounted: limits, retryBudget, clock, random)
    ActivityRegistry.all.add(calls)
  }

  /// A manager whose calls are no activity of the process's that people are shown.
  init(uncounted limits: ThrottleLimits, _ retryBudget: RetryBudget, _ clock: CallClock, _ random: CallRandom) {
    admission = AdmissionGate(limits: limits, clock: clock)
    streams = AdmissionGate(limits: limits.ofStreams, clock: clock)
    retries = RetryDesk(retryBudget)
    circuits = CircuitDesk(clock: clock)
    self.clock = clock
    dates = DatedClock(clock)
    self.random = random
  }

  // MARK: Throttling

  /// The limits for attempts in flight.
  public nonisolated var limits: ThrottleLimits { admission.limits }

  /// Sets other limits. They hold at once: raised ones start waiting attempts, lowered ones let running ones finish.
  public func setLimits(_ limits: ThrottleLimits) {
    streams.setLimits(limits.ofStreams)
    admission.setLimits(limits)
  }

  /// The attempts that run and those that wait, overall and by host.
  public nonisolated var throttle: ThrottleSnapshot {
    admission.snapshot.adding(streams: streams.snapshot)
  }

  /// The state of a host's circuit breaker; closed where there is none.
  public nonisolated func circuit(of host: Origin) -> CircuitBreaker.State { circuits.circuit(of: host) }

  /// The number of retries left in a host's budget.
  public nonisolated func retriesLeft(for host: Origin) -> Double { retries.left(for: host) }

  /// The number of attempts that hold a slot.
  public nonisolated var runningCount: Int { admission.running }

  /// The number of attempts that wait for one, or for a stream.
  public nonisolated var waitingCount: Int { admission.waiting + streams.waiting }

  /// The number of calls under way, whatever they are doing.
  public nonisolated var callCount: Int { calls.count }

  // MARK: Cancellation

  /// Cancels every call and transfer under way; each throws `CancellationError`. Returns how many there were, without those that calls
  /// have made for themselves: shared requests, and validations afterwards.
  ///
  /// Token requests are not cancelled. One that no call waits for ends by itself, unless it spends a refresh token or a code: that one
  /// completes, so that the sign-in is kept.
  @discardableResult
  public func cancelAll() -> Int { calls.cancel { !($0.task is TokenTask) } }

  /// Cancels the calls and transfers whose task has this tag; each throws `CancellationError`. Returns how many there were.
  @discardableResult
  public func cancel(tag: String) -> Int { calls.cancel { $0.taskTag == tag } }

  /// Cancels the calls and transfers whose task is of this type; each throws `CancellationError`. Returns how many there were.
  @discardableResult
  public func cancel<Described: ServerTask>(type: Described.Type) -> Int {
    calls.cancel { $0.task is Described && !$0.isUnseen }
  }

  /// Waits between two calls of a plan; cancelled with them.
  nonisolated func sleep(for time: Duration, in plan: TaskPlan) async throws {
    let state = Lock<(wait: Task<Void, any Error>?, isCancelled: Bool)>((nil, false))
    // Before it begins: who sees that it waits can cancel it.
    let work = calls.enter(
      CallDesk.Work(plan: plan) {
        let wait = state.withLock { state in
          state.isCancelled = true
          return state.wait
        }
        wait?.cancel()
        return true
      })
    defer { calls.leave(work) }
    let wait = Task { [clock] in try await clock.sleep(for: time) }
    let isCancelled = state.withLock { state in
      state.wait = wait
      return state.isCancelled
    }
    if isCancelled { wait.cancel() }
    try await withTaskCancellationHandler {
      try await wait.value
    } onCancel: {
      wait.cancel()
    }
  }

  // MARK: Recording

  /// Records every call from now on as a numbered text file with all its attempts, redacted, and keeps an index of them,
  /// `index.json`.
  ///
  /// Numbers follow the order in which calls end. Other sessions, and other processes, may record to the same folder at
  /// the same time. No call waits for its recording, and none fails with it: a disk that is full or goes away is logged
  /// once. ``endTaskPathRecording()`` waits until all is written.
  ///
  /// - Parameters:
  ///   - folder: Where to; made if it is not there, for this user alone. A folder of another user, or one that everybody
  ///     may write to, is refused. A new folder below the temporary one unless given.
  ///   - limits: How many recordings are kept, those included that are there already.
  /// - Returns: The folder.
  /// - Throws: ``TaskError`` with code `.fileNotWritable` when the folder cannot be made or written to.
  @discardableResult
  public func recordTaskPath(to folder: URL? = nil, limits: RecordingLimits = RecordingLimits()) throws -> URL {
    try startRecording(to: folder, limits)
  }

  /// Stops recording, and returns when all calls that have ended are written. Calls under way are not recorded any more.
  ///
  /// It waits while another process writes to the folder. It returns early when the surrounding task is cancelled, or when another process
  /// holds the folder's lock for 10 seconds without writing anything.
  ///
  /// - Returns: The number of calls that are missing because the disk failed or calls ended faster than they could be written; also
  ///   logged.
  @discardableResult
  public func endTaskPathRecording() async -> Int { await stopRecording() }

  /// The folder of the recordings; nil while calls are not recorded.
  public nonisolated var taskPathURL: URL? { recorder?.url }

  nonisolated var recorder: TaskRecorder? { recorderBox.withLock { $0 } }

  @discardableResult
  nonisolated func startRecording(to folder: URL?, _ limits: RecordingLimits) throws -> URL {
    let recorder = try TaskRecorder(folder: folder ?? TaskRecorder.newFolder(), limits: limits)
    setRecorder(recorder)
    return recorder.url
  }

  nonisolated func stopRecording() async -> Int { await setRecorder(nil)?.finish() ?? 0 }

  @discardableResult
  private nonisolated func setRecorder(_ recorder: TaskRecorder?) -> TaskRecorder? {
    let former = recorderBox.withLock { box in
      defer { box = recorder }
      return box
    }
    former?.end()
    return former
  }

  // MARK: Statistics

  nonisolated let statisticsDesk = StatisticsDesk()

  /// The statistics of each type of task since the manager was made, or since ``resetStatistics()``.
  ///
  ///     for widget in shop.manager.statistics.sorted(by: .bytes) { print(widget) }
  ///
  /// A call counts when it has ended. There is one entry a type, however many calls there were.
  public nonisolated var statistics: ManagerStatistics { statisticsDesk.statistics }

  /// Resets the statistics.
  public nonisolated func resetStatistics() { statisticsDesk.reset() }
}
