import ErrandFoundation

/// A call: its plan, its settings and its state.
package final class Call: Sendable {
  let plan: TaskPlan
  let snapshot: ServerSnapshot
  let destination: BodyDestination
  let trace: CallTrace
  let number: Int
  /// The call's time limits. The task's limits override the server's.
  let timeouts: Timeouts
  /// The record for echo, recording and log details. `nil` if none of them is enabled.
  private let exchange: Lock<ExchangeRecord>?
  let recorder: TaskRecorder?
  let isEchoed: Bool
  /// The parts of the call's log line. Empty if the call is not logged.
  let logOptions: LogOptions
  let state = Lock(CallState())
  let cookieJar: CookieJar?
  let rules: CallRules
  /// The `Idempotency-Key` for all attempts, from the task's headers or generated randomly. `nil` if the call doesn't
  /// send one.
  let idempotencyKey: String?

  private static let lastNumber = Lock(0)

  package init(_ plan: TaskPlan, _ destination: BodyDestination) {
    let manager = plan.server.manager
    let snapshot = plan.settings
    self.snapshot = snapshot
    self.destination = destination
    number = Self.lastNumber.withLock { number in
      number += 1
      return number
    }
    timeouts =
      plan.hasLimits
      ? Timeouts.ofAttempts(plan.timeout, plan.timeouts, snapshot.configuration) : snapshot.timeouts
    recorder = manager.recorder
    isEchoed = Self.isEchoed(plan, snapshot.configuration)
    logOptions = plan.logOptions ?? snapshot.configuration.logOptions
    let isWanted =
      recorder != nil || isEchoed || !snapshot.configuration.recorders.isEmpty || logOptions.hasDetails
    exchange = isWanted ? Lock(ExchangeRecord()) : nil
    cookieJar = CookiePolicy.jar(of: plan, snapshot)
    trace = CallTrace(
      call: number, task: plan.taskName, clock: manager.clock,
      observers: plan.control.map { snapshot.observers + [ObserverQueue($0)] } ?? snapshot.observers,
      logStyle: snapshot.configuration.logStyle,
      log: snapshot.configuration.log, context: plan.context, isHidden: !plan.recordingStyle.contains(.url),
      isInternal: plan.isInternal,
      span: CallSpan.here(snapshot.traceSampling, manager.random))
    rules = CallRules.of(plan, snapshot, destination, trace)
    idempotencyKey =
      plan.operation?.value ?? plan.headers[.idempotencyKey] ?? (plan.idempotency == .key ? manager.random.key() : nil)
    self.plan = plan
    #if DEBUG
      TaskSpelling.log(plan.task, to: snapshot.configuration.log)
    #endif
  }

  var manager: TaskManager { plan.server.manager }
  var transport: any Transport { plan.server.transport }

  private static func isEchoed(_ plan: TaskPlan, _ configuration: ServerConfiguration) -> Bool {
    switch plan.echoStyle {
    case .full: true
    case .none: false
    case .inherited:
      configuration.echoesTasks
        || (!configuration.echoedTasks.isEmpty && plan.isMeant(by: configuration.echoedTasks))
    }
  }

  /// Whether the task's hooks are called. `false` for internal calls.
  var callsHooks: Bool { !plan.isInternal }

  /// Whether the call's exchanges are echoed, recorded or logged.
  var isShown: Bool { exchange != nil }

  var retryPolicy: RetryPolicy { plan.retryPolicy(under: snapshot.configuration) }

  /// The time limits that apply if a body is a file or a stream.
  var streamTimeouts: Timeouts { Timeouts.ofStreams(plan.timeout, plan.timeouts, snapshot.configuration) }

  var remaining: Duration? { timeouts.call.map { $0 - trace.elapsed } }

  /// Runs `body` as this call: registers the call, starts its deadline, and ends it exactly once.
  func run<Value: Sendable>(_ body: @escaping @Sendable (Call) async throws -> Value) async throws -> Value {
    trace.note(.callStarted, at: .zero)
    manager.calls.enter(self)  // before the first hook, so that `cancelAll()` includes this call
    if let limit = timeouts.call { startDeadline(limit) }
    do {
      let value = try await inOwnTask(body)
      // A streamed body reports its cancellation to its reader.
      if destination.isStream ? Task.isCancelled : isCancelled {
        cancel()  // ends the body and its attempt before the call ends
        throw CancellationError()
      }
      if destination.isStream { return value }  // the call ends with its body
      await end(.succeeded(nil))
      return value
    } catch {
      // A hook or step may have wrapped the cancellation in another error.
      let error = explained(isCancelled ? CancellationError() : error)
      await end(error is CancellationError ? .cancelled : .failed(words(of: error)), error)
      throw withEnd(error)
    }
  }

  /// Runs `body` in the call's Swift task, which starts immediately. Cancelling the call or its caller cancels that
  /// task.
  private func inOwnTask<Value: Sendable>(
    _ body: @escaping @Sendable (Call) async throws -> Value
  ) async throws -> Value {
    try await withTaskCancellationHandler {
      let work = Self.begun { [self] in
        guard let span = trace.span else { return try await body(self) }
        return try await TraceContext.$current.withValue(span.context) { try await body(self) }
      }
      if !state.withLock({ $0.life.begin(work) }) { work.cancel() }
      return try await work.value
    } onCancel: {
      cancel()
    }
  }

  private static func begun<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) -> Task<Value, any Error> {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return Task { try await body() } }
    // Start on the caller's thread: this avoids an executor hop if nothing suspends.
    return Task.immediate { try await body() }
  }

  /// Begins the server's background activity, which lasts until the end of the call.
  func keepAwake() {
    guard let backgroundActivity = snapshot.configuration.backgroundActivity else { return }
    let release = backgroundActivity(plan.task)
    state.withLock { $0.release = release }
  }

  /// Calls `willStart` and checks the settings. Runs even if the call has already been cancelled.
  func begin() async throws {
    if callsHooks { await plan.task.willStart() }
    try checkCancellation()
    try checkSettings()
  }

  // MARK: Notes

  /// Records the built request. A step or the cache may answer the request, or the call may fail, before an attempt
  /// sends it.
  func noteBuilt(_ request: HTTPRequest) {
    state.withLock { $0.shown = (request.method, request.url) }
  }

  func noteRequest(_ request: HTTPRequest, of attempt: Int) {
    let size = request.body.isEmpty ? 0 : request.body.knownLength
    state.withLock { state in
      state.shown = (request.method, request.url)
      state.bytesSent += size
    }
    if isShown {
      let now = trace.elapsed
      record { $0.begin(request, of: attempt, at: now) }
    }
    if trace.isObserved || trace.keepsNotes {
      let line = RequestLine(request, of: attempt, snapshot.configuration.redaction, isHidden: trace.isHidden)
      if trace.keepsNotes { trace.span?.note(line) }
      if trace.isObserved { trace.emit(.requested(line), at: trace.elapsed) }
    }
  }

  /// Changes the record for echo, recording and log details, if the call keeps one.
  func record(_ change: (inout ExchangeRecord) -> Void) { exchange?.withLock { change(&$0) } }

  /// Closes a file or a stream when the call ends, even if a step keeps the response.
  func closeAtEnd(_ body: HTTPResponseBody) { if !state.withLock({ $0.opened(body) }) { body.close() } }

  /// The file that this call has written. `nil` for another call's body, and for a body that isn't in a file.
  func written(_ body: HTTPResponseBody) -> WrittenBody? {
    guard let written = body.file as? WrittenBody else { return nil }
    return state.withLock { $0.openedBodies }.contains { $0.body === body } ? written : nil
  }

  func noteFinal(_ response: HTTPResponse) {
    state.withLock { state in
      state.response = response
      // A stream's body retains the call: storing it here would leak both.
      if destination.isStream { state.response?.body = HTTPResponseBody() }
      state.sent.add(.repeatable)
    }
  }

  /// Records that the response was accepted. Later failures don't change that.
  func noteAccepted(_ response: HTTPResponse) {
    let head = response.head  // the response would retain the call
    state.withLock { $0.accepted = head }
  }

  // MARK: The end

  /// Cancels the call, which then throws `CancellationError`, or a timeout error if its deadline has passed.
  func cancel(_ cause: CallLife.Cause = .cancelled) { state.withLock { $0.life.cancel(cause) }?.cancel() }

  /// Whether the call, or the task that awaits it, was cancelled.
  package var isCancelled: Bool { Task.isCancelled || state.withLock { $0.life.cause != nil } }

  /// Throws `CancellationError` if the call was cancelled or has ended. A step may send a request that it doesn't await.
  func checkCancellation() throws {
    if Task.isCancelled || state.withLock({ $0.life.isOver }) { throw CancellationError() }
  }

  /// The head of the accepted response, even if the call failed or was cancelled afterwards.
  package var accepted: HTTPResponse? { state.withLock { $0.accepted } }

  /// The method of the sent request that must not be resent, if any.
  package var methodSentOnce: HTTPMethod? { state.withLock { $0.sent.onceOnly } }

  var hasExpired: Bool { state.withLock { $0.life.expired != nil } }

  /// Cancels the call, whose deadline has passed, and returns the error.
  func expired(_ phase: TaskError.Phase) -> TaskError {
    cancel(.deadline(phase))
    return .timeout(.call, after: timeouts.call ?? .zero, phase: phase)
  }

  /// Returns the error to throw to the caller: a timeout if the deadline has passed, otherwise `error`. Adds the call's
  /// details to a `TaskError`.
  package func explained(_ error: any Error) -> any Error {
    let state = state.withLock { $0 }
    if let phase = state.life.expired, let limit = timeouts.call {
      return completed(.timeout(.call, after: limit, phase: phase), state)
    }
    let error = TaskError.ofTransfer(error)
    if let error = error as? TaskError { return completed(error, state) }
    return error
  }

  private func withEnd(_ error: any Error) -> any Error {
    guard var error = error as? TaskError else { return error }
    error.record = flightRecord
    return error
  }

  /// Returns an error's description on one line, redacted and without the request.
  func words(of error: any Error) -> String {
    ((error as? TaskError)?.explanation ?? snapshot.configuration.redaction(text: "\(error)")).onOneLine
  }

  /// Attributes an error to this call. If another call threw the error, the reason names that call's request.
  private func own(_ error: inout TaskError, _ shown: (method: HTTPMethod, url: URL)?) {
    if let other = error.call, other.number != number {
      error.isFromAnotherCall = true
      if !other.request.isEmpty {
        error.reason = "\(other.request), which this call depends on, failed: \(error.reason)"
      }
    }
    let described = shown == nil ? plan.describedTask(snapshot.configuration.redaction) : title(of: shown)
    error.call = (number, trace.isHidden ? "" : described)
  }

  private func completed(_ error: TaskError, _ state: CallState) -> TaskError {
    var error = error
    // An internal call fails for every call that waits for it, and each waiting call attributes the error to itself.
    if !plan.isInternal { own(&error, state.shown) }
    if error.isUnattributed, let timer = error.timer, let limit = error.limit,
      let setting = Timeouts.setting(of: timer, limit, plan.timeout, plan.timeouts, snapshot.configuration)
    {
      error.attributeLimit(to: setting)
    }
    error.isLocal = state.response.map { plan.acceptedStatuses.contains($0.status) } ?? false
    error.reason = error.shownReason(snapshot.configuration.redaction)
    error.record = flightRecord
    error.elapsed = trace.elapsed
    if state.shown == nil { error.task = plan.describedTask(snapshot.configuration.redaction) }
    error.method = state.shown?.method
    error.url = (state.shown?.url).map { snapshot.configuration.redaction($0) }
    error.retryRefusal = state.refusal?.reason
    error.mostAttempts = state.refusal?.mostAttempts
    if error.attemptCount != nil { error.attemptCount = nil }  // the count belongs to a nested transfer
    // The error may come from another call, which a step may have made to send the same thing.
    let wasNotSent = state.sent.isNothing && (error.wasNotSent || snapshot.configuration.perCallSteps.isEmpty)
    if error.wasNotSent != wasNotSent { error.wasNotSent = wasNotSent }
    return error
  }

  /// The record so far, titled with the method and URL of the last request.
  var flightRecord: FlightRecord {
    var record = trace.flightRecord
    let (shown, shared) = state.withLock { ($0.shown, $0.shared) }
    if !shared.isEmpty { record.insert(shared) }
    record.title = title(of: shown)
    return record
  }

  private func title(of shown: (method: HTTPMethod, url: URL)?) -> String {
    shown.map { "\($0.method) \(snapshot.configuration.redaction($0.url))" } ?? ""
  }

  func end(_ outcome: CallOutcome, _ error: (any Error)? = nil) async {
    guard let ended = state.withLock({ $0.end() }) else { return }
    let outcome = outcome.with(ended.response?.status)
    for opened in ended.openedBodies.reversed() { opened.body?.close() }  // the first file may have created the folder
    ended.deadline?.cancel()
    manager.calls.leave(self)
    let errorType = error.map { TaskError.typeName(of: $0) }
    let record = trace.end(
      outcome, error.flatMap { ($0 as? TaskError)?.cause }, errorType: errorType, title: title(of: ended.shown))
    manager.statisticsStore.note(outcome, record, bytesSent: ended.bytesSent, of: plan)
    let exchange = exchange?.withLock { $0 }
    if !logOptions.isEmpty { writeLine(exchange ?? ExchangeRecord(), outcome, errorType, ended) }
    if let exchange { show(exchange, outcome, errorType, ended, record) }
    if callsHooks { await callEndHook(error, ended) }
    ended.release?()
  }

  private func callEndHook(_ error: (any Error)?, _ ended: CallState.Ended) async {
    guard case .cancelled = ended.cause, !Task.isCancelled else { return await callLastHook(error, ended.response) }
    // Only the call was cancelled, not its caller: run the hook in a cancelled task, so that it doesn't delay the
    // caller.
    let hook = Task { await callLastHook(error, ended.response) }
    hook.cancel()
    await hook.value
  }

  private func callLastHook(_ error: (any Error)?, _ response: HTTPResponse?) async {
    if let error {
      await plan.task.didFail(with: error)
    } else if let response {
      await plan.task.didComplete(with: response)
    }
  }

  private func startDeadline(_ limit: Duration) {
    let deadline = Task { [weak self, clock = manager.clock] in
      guard (try? await clock.sleep(untilLimit: limit)) != nil else { return }  // the call ended first
      guard let self else { return }
      cancel(.deadline(TaskError.Phase(at: trace.flightRecord)))
    }
    state.withLock { $0.deadline = deadline }
  }
}
