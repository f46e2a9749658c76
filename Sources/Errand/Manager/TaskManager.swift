public import ErrandFoundation

/// Runs tasks and manages their throttling, cancellation, recording and statistics.
///
/// Every server has its own manager, unless you pass a shared one. Sharing a manager also shares its limits.
public actor TaskManager {
  nonisolated let admission: AdmissionGate
  /// The gate for streams. A call passes it before requesting a slot.
  nonisolated let streams: AdmissionGate
  package nonisolated let calls = CallRegistry()
  nonisolated let revalidations = RevalidationRegistry()
  nonisolated let flights = FlightRegistry()
  nonisolated let invalidations = InvalidationLog()
  nonisolated let serialQueues = SerialQueues()
  package nonisolated let clock: CallClock
  package nonisolated let dates: WallClock
  package nonisolated let random: CallRandom
  package nonisolated let retries: RetryBudgets
  nonisolated let circuits: CircuitRegistry
  private nonisolated let recorderBox = Lock<TaskRecorder?>(nil)

  /// Creates a manager.
  ///
  /// - Parameters:
  ///   - limits: The limits on running and waiting attempts.
  ///   - retryBudget: The limit on retries per host.
  ///   - clock: The clock for waiting and for measuring time.
  ///   - random: The source of randomness for jitter.
  public init(
    limits: ThrottleLimits = ThrottleLimits(), retryBudget: RetryBudget = .standard, clock: CallClock = .continuous,
    random: CallRandom = .system
  ) {
    self.init(uncounted: limits, retryBudget, clock, random)
    ActivityRegistry.all.add(calls)
  }

  /// Creates a manager whose calls are not counted in ``NetworkActivity/all``.
  package init(uncounted limits: ThrottleLimits, _ retryBudget: RetryBudget, _ clock: CallClock, _ random: CallRandom) {
    admission = AdmissionGate(limits: limits, clock: clock)
    streams = AdmissionGate(limits: limits.ofStreams, clock: clock)
    retries = RetryBudgets(retryBudget)
    circuits = CircuitRegistry(clock: clock)
    self.clock = clock
    dates = WallClock(clock)
    self.random = random
  }

  // MARK: Throttling

  /// The limits on running and waiting attempts.
  public nonisolated var limits: ThrottleLimits { admission.limits }

  /// Sets new limits, effective immediately. Raising a limit starts waiting attempts. Lowering a limit does not stop
  /// running attempts.
  public func setLimits(_ limits: ThrottleLimits) {
    streams.setLimits(limits.ofStreams)
    admission.setLimits(limits)
  }

  /// The numbers of running and waiting attempts, in total and by host.
  public nonisolated var throttle: ThrottleSnapshot {
    admission.snapshot.adding(streams: streams.snapshot)
  }

  /// Returns the state of a host's circuit breaker, or `.closed` if the host has none.
  public nonisolated func circuit(of host: Origin) -> CircuitBreaker.State { circuits.circuit(of: host) }

  /// Returns the number of retries left in a host's budget.
  public nonisolated func retriesLeft(for host: Origin) -> Double { retries.left(for: host) }

  /// The number of attempts that hold a slot.
  public nonisolated var runningCount: Int { admission.running }

  /// The number of attempts waiting for a slot or a stream.
  public nonisolated var waitingCount: Int { admission.waiting + streams.waiting }

  /// The number of running calls, including those that are waiting.
  public nonisolated var callCount: Int { calls.count }

  // MARK: Cancellation

  /// Cancels all running calls and transfers. They throw `CancellationError`. A batch, such as `results(of:)`, continues
  /// with its remaining tasks: to end it, cancel the Swift task that reads it.
  ///
  /// Token requests are not cancelled directly. A token request stops when no call is waiting for it. If it spends a
  /// refresh token or an authorization code, it completes instead, so that the user stays signed in.
  ///
  /// - Returns: The number of cancelled calls. Internal calls, such as shared requests and background revalidations,
  ///   are not counted.
  @discardableResult
  public func cancelAll() -> Int { calls.cancel { _ in true } }

  /// Cancels all calls and transfers with this tag. They throw `CancellationError`. Returns how many were cancelled.
  @discardableResult
  public func cancel(tag: String) -> Int { calls.cancel { $0.taskTag == tag } }

  /// Cancels all calls and transfers of this task type. They throw `CancellationError`. Returns how many were
  /// cancelled.
  @discardableResult
  public func cancel<Described: ServerTask>(type: Described.Type) -> Int {
    calls.cancel { $0.task is Described }
  }

  /// Waits between two calls with the same plan. Cancelling the plan's calls also cancels the wait.
  nonisolated func sleep(for time: Duration, in plan: TaskPlan) async throws {
    let wait = Task { [clock] in try await clock.sleep(for: time) }
    let work = calls.enter(
      CallRegistry.Work(plan: plan) {
        wait.cancel()
        return true
      })
    defer { calls.leave(work) }
    try await withTaskCancellationHandler {
      try await wait.value
    } onCancel: {
      wait.cancel()
    }
  }

  // MARK: Recording

  /// Starts recording every call as a numbered, redacted text file with all its attempts, indexed in `index.json`.
  ///
  /// Files are numbered in the order in which calls end. Several sessions and processes can record to the same folder
  /// concurrently. Calls never wait for the recording and never fail because of it. If the disk is full or missing, the
  /// error is logged once. ``endTaskPathRecording()`` waits until everything has been written.
  ///
  /// - Parameters:
  ///   - folder: The destination. A missing folder is created, accessible only to this user. Defaults to a new folder
  ///     in the temporary directory. A folder that belongs to another user, or is writable by everyone, is rejected.
  ///   - limits: The limits on stored recordings, including existing ones.
  /// - Returns: The folder.
  /// - Throws: ``TaskError`` with code `.fileNotWritable` if the folder can't be created or written to.
  @discardableResult
  public func recordTaskPath(to folder: URL? = nil, limits: RecordingLimits = RecordingLimits()) throws -> URL {
    try startRecording(to: folder, limits)
  }

  /// Stops recording and returns when the recordings of all ended calls have been written. Running calls are not
  /// recorded.
  ///
  /// Waits while another process is writing to the folder. Returns early if the surrounding task is cancelled, or if
  /// another process holds the folder's lock for 10 seconds without writing.
  ///
  /// - Returns: The number of calls that were not recorded because the disk failed or calls ended faster than they
  ///   could be written. The number is also logged.
  @discardableResult
  public func endTaskPathRecording() async -> Int { await stopRecording() }

  /// The folder for recordings. `nil` if calls are not being recorded.
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

  nonisolated let statisticsStore = StatisticsStore()

  /// The statistics for each task type since the manager was created, or since ``resetStatistics()``.
  ///
  ///     for widget in shop.manager.statistics.sorted(by: .bytes) { print(widget) }
  ///
  /// A call is counted when it ends.
  public nonisolated var statistics: ManagerStatistics { statisticsStore.statistics }

  /// Resets the statistics.
  public nonisolated func resetStatistics() { statisticsStore.reset() }
}
