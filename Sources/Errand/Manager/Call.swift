import Foundation

/// One call under way: what it is to do, and what has happened to it.
final class Call: Sendable {
  let plan: TaskPlan
  let snapshot: ServerSnapshot
  let delivery: Delivery
  let trace: CallTrace
  let manager: TaskManager
  let transport: any Transport
  let number: Int
  /// What is kept for the echo and the recording; nil when nobody wants to see it.
  private let exchange: Lock<ExchangeRecord>?
  private let recorder: TaskRecorder?
  private let isEchoed: Bool
  private let method = Lock<HTTPMethod?>(nil)
  private let state = Lock(State())

  private struct State {
    var hasEnded = false
    var hasExpired = false
    var idempotencyKey: String?
  }

  private static let lastNumber = Lock(0)

  init(_ plan: TaskPlan, _ snapshot: ServerSnapshot, _ delivery: Delivery) {
    let configuration = snapshot.configuration
    let manager = plan.server.manager
    self.plan = plan
    self.snapshot = snapshot
    self.delivery = delivery
    self.manager = manager
    transport = plan.server.transport
    number = Self.lastNumber.withLock { number in
      number += 1
      return number
    }
    recorder = manager.recorder
    isEchoed = plan.echoStyle == .full || (plan.echoStyle == .inherited && configuration.echoesTasks)
    exchange = recorder != nil || isEchoed ? Lock(ExchangeRecord()) : nil
    trace = CallTrace(
      call: number, taskName: { plan.taskName }, clock: manager.clock, observers: configuration.observers,
      logStyle: configuration.logStyle, log: configuration.log)
  }

  /// Whether somebody wants to see what goes over the wire.
  var isShown: Bool { exchange != nil }

  /// The limits of the call: the task's, then the server's.
  var timeouts: Timeouts {
    var timeouts = plan.timeouts.orElse(snapshot.configuration.timeouts)
    timeouts.attempt = timeouts.attempt ?? snapshot.configuration.defaultTimeout
    return timeouts
  }

  var retryPolicy: RetryPolicy { plan.retryPolicy.isInherited ? snapshot.configuration.retryPolicy : plan.retryPolicy }

  /// What is left until the deadline; nil where there is none.
  var remaining: Duration? { timeouts.call.map { $0 - trace.elapsed } }

  /// The `Idempotency-Key` of the call, the same for every attempt.
  var idempotencyKey: String {
    state.withLock { state in
      let key = state.idempotencyKey ?? manager.random.key()
      state.idempotencyKey = key
      return key
    }
  }

  /// Runs `body` as this call: registered, so that it can be cancelled; under its deadline; begun and ended once.
  func run<Value: Sendable>(_ body: @escaping @Sendable (Call) async throws -> Value) async throws -> Value {
    trace.note(.callStarted)
    let timer = startDeadline()
    do {
      let value = try await manager.calls.run(number, plan) { try await body(self) }
      if case .stream = delivery { return value }
      timer?.cancel()
      await end(.succeeded(nil))
      return value
    } catch {
      timer?.cancel()
      let error = explained(error)
      await end(error is CancellationError ? .cancelled : .failed("\(error)"))
      throw error
    }
  }

  /// Hands a body over to the caller: the call ends when the body does, and can be cancelled until then.
  func handOver(_ response: HTTPResponse) {
    let body = response.body
    manager.calls.enter(number, plan) { [weak body] in body?.fail(CancellationError()) }
    body.onEnd { [self] ending in
      manager.calls.leave(number)
      let outcome: CallOutcome =
        switch ending {
        case .complete, .dropped: .succeeded(response.status)
        case .failed(is CancellationError): .cancelled
        case .failed(let error): .failed("\(error)")
        }
      Task { await end(outcome) }
    }
  }

  // MARK: What is noted

  func note(request: HTTPRequest) {
    method.withLock { $0 = request.method }
    trace.name("\(request.method) \(snapshot.configuration.redaction(request.url))")
    exchange?.withLock { $0.attempts.append(.init(request: request)) }
  }

  func note(response: HTTPResponse?, body: Data?, failure: String?, duration: Duration) {
    exchange?.withLock { exchange in
      guard var last = exchange.attempts.popLast() else { return }
      last.response = response
      last.body = body
      last.failure = failure
      last.duration = duration
      exchange.attempts.append(last)
    }
  }

  // MARK: How it ends

  /// The error as the caller sees it: a cancellation as `CancellationError`, a `TaskError` with all that is known.
  func explained(_ error: any Error) -> any Error {
    if state.withLock({ $0.hasExpired }), let limit = timeouts.call {
      return completed(.timeout(.call, after: limit, phase: .waiting))
    }
    if error is CancellationError { return error }
    if let error = error as? TaskError { return completed(error) }
    return error
  }

  private func completed(_ error: TaskError) -> TaskError {
    var error = error
    error.record = trace.flightRecord
    error.elapsed = trace.elapsed
    if let space = error.record.title.firstIndex(of: " ") {
      error.method = method.withLock { $0 }
      error.url = String(error.record.title[error.record.title.index(after: space)...])
    }
    return error
  }

  private func end(_ outcome: CallOutcome) async {
    let isFirst = state.withLock { state in
      defer { state.hasEnded = true }
      return !state.hasEnded
    }
    guard isFirst else { return }
    trace.note(.callEnded(outcome))
    guard let exchange else { return }
    let text = exchange.withLock { $0 }.text(plan, snapshot.configuration, trace.flightRecord, outcome)
    if isEchoed { snapshot.configuration.log.write(text) }
    let name = plan.recordingName(method: method.withLock { $0 } ?? plan.httpMethod)
    if let problem = await recorder?.record(text, name: name) { snapshot.configuration.log.write(problem) }
  }

  private func startDeadline() -> Task<Void, Never>? {
    guard let limit = timeouts.call else { return nil }
    return Task { [weak self, clock = manager.clock, number] in
      guard (try? await clock.sleep(for: limit)) != nil else { return }  // the call ended first
      self?.state.withLock { $0.hasExpired = true }
      self?.manager.calls.cancel(number)
    }
  }
}
