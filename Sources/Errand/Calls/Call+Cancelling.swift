// A call can be cancelled from outside: by `cancelAll()`, by its tag, by its deadline. The task that awaits it must not be.
// An app's code therefore runs in a Swift task of its own, and the library's own waits are told to end.

extension Call {
  /// Ends the call with `CancellationError`, whatever it waits for.
  func cancel() { state.withLock { $0.cancel() }?.cancel() }

  /// Cancels `wait` when the call is to end; at once where that is so already.
  func heed(_ wait: any Cancellable) {
    if !state.withLock({ $0.heed(wait) }).mayGoOn { wait.cancel() }
  }

  /// True when the call, or the task that awaits it, was cancelled.
  var isCancelled: Bool { Task.isCancelled || state.withLock { $0.isCancelled } }

  /// Runs the whole of the call so that it can be cancelled from outside.
  @inline(__always)
  func cancellable<Value: Sendable>(_ body: @escaping @Sendable (Call) async throws -> Value) async throws -> Value {
    // A stream stays until its body has ended; it leaves by itself.
    defer { if !isHandedOver { manager.calls.leave(self) } }
    do {
      try checkCancellation()
      let value = isDirect ? try await body(self) : try await inOwnTask { try await body(self) }
      try checkCancellation()
      return value
    } catch {
      try checkCancellation()  // whatever was made of the cancellation on its way
      throw error
    }
  }

  /// Runs a body whose waits only Swift's own cancellation ends, such as an app's closures and hooks.
  @inline(__always)
  func interruptible<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
    isDirect ? try await inOwnTask(body) : try await body()
  }

  /// Sends a request by the transport, and cancels it when the call is to end.
  @inline(__always)
  func transmit(_ request: HTTPRequest, to host: Origin) async throws -> HTTPResponse {
    guard isDirect, let cancellable = plan.server.cancellableTransport else { return try await transport.send(request) }
    return try await cancellable.send(request, to: host) { [self] in heed($0) }
  }

  /// Throws `CancellationError` where the call, or the task that awaits it, was cancelled.
  func checkCancellation() throws {
    // A body that was handed over says so to its reader.
    if Task.isCancelled || (!isHandedOver && state.withLock { $0.isCancelled }) { throw CancellationError() }
  }

  private func inOwnTask<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
    let work = start(SerialQueues.joined(body))
    heed(work)
    return try await withTaskCancellationHandler {
      try await work.value
    } onCancel: {
      work.cancel()
    }
  }

  /// Starts at once, on the thread of the caller: work that does not wait costs no trip through the executor.
  private func start<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) -> Task<Value, any Error> {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      return Task.immediate { try await body() }
    }
    return Task { try await body() }
  }
}

extension TaskPlan {
  /// True when nothing in the plan waits around the attempts of the call.
  var isUnattended: Bool { serialQueue.name == nil && control == nil && (hedging.isInherited || hedging.isNone) }
}

extension ServerSnapshot {
  /// True when nothing in the configuration waits around the attempts of a call.
  var isStraight: Bool {
    configuration.perCallSteps.isEmpty && configuration.perAttemptSteps.isEmpty && configuration.hedging.isNone
      && !configuration.waitsForConnectivity
  }
}

/// The body that the caller reads: cancelling the call ends it.
struct HandedOverBody: Cancellable {
  let call: Call
  weak let body: HTTPResponseBody?

  func cancel() { body?.fail(call.explained(CancellationError())) }
}

/// The calls that are under way, so that they can be cancelled from outside.
final class CallRegistry: Sendable {
  private let calls = Lock<[Int: Call]>([:])

  func enter(_ call: Call) { calls.withLock { $0[call.number] = call } }

  /// The call is over.
  func leave(_ call: Call) { calls.withLock { $0[call.number] = nil } }

  /// Cancels the calls whose plan is `wanted`; returns how many there were.
  @discardableResult
  func cancel(where wanted: (TaskPlan) -> Bool) -> Int {
    let chosen = calls.withLock { Array($0.values) }.filter { wanted($0.plan) }
    for call in chosen { call.cancel() }
    return chosen.count
  }

  var count: Int { calls.withLock { $0.count } }
}
