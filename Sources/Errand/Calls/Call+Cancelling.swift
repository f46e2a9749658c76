// A call can be cancelled from outside: by `cancelAll()`, by its tag, by its deadline. The task that awaits it must not be.
// An app's code therefore runs in a Swift task of its own, and the library's own waits are told to end.

extension Call {
  /// Ends the call with `CancellationError`, whatever it waits for.
  func cancel() { state.withLock { $0.cancel() }?.cancel() }

  /// Cancels `wait` when the call is to end; at once where that is so already.
  func heed(_ wait: any Cancellable) {
    if !state.withLock({ $0.heed(wait) }).mayGoOn { wait.cancel() }
  }

  /// True when the call, or the task that awaits it, was cancelled. A body that was handed over says so to its reader.
  var isCancelled: Bool { Task.isCancelled || state.withLock { $0.isCancelled && !$0.isHandedOver } }

  /// Throws `CancellationError` where the call, or the task that awaits it, was cancelled.
  func checkCancellation() throws {
    if isCancelled { throw CancellationError() }
  }

  /// Runs a body whose waits only Swift's own cancellation ends, such as an app's closures and hooks.
  @inline(__always)
  func interruptible<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
    surroundings == nil ? try await inOwnTask(body) : try await body()
  }

  /// Runs hooks: as other code of an app's, unless each of them is known to be the library's own, which wait for nothing.
  @inline(__always)
  func hooked<Value: Sendable>(
    _ names: OwnHooks.Names, _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    if surroundings != nil || hooks.own.isSuperset(of: names) { return try await body() }
    return try await inOwnTask { [self] in
      if hooks.tried.isSuperset(of: names) { return try await body() }
      return try await OwnHooks.finding(names, of: type(of: plan.task), body)
    }
  }

  /// Sends a request by the transport, and cancels it when the call is to end.
  @inline(__always)
  func transmit(_ request: HTTPRequest, to host: Origin) async throws -> HTTPResponse {
    guard let cancellable = plan.server.cancellableTransport else { return try await transport.send(request) }
    return try await cancellable.send(request, to: host) { [self] in if surroundings == nil { heed($0) } }
  }

  /// Runs a body as a part of the call's trace, and where anything may wait around its attempts in a Swift task of its own.
  func inSurroundings<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
    guard let span = trace.span else { return try await inOwnTask(body) }
    return try await TraceContext.$current.withValue(span.context) {
      surroundings == nil ? try await body() : try await inOwnTask(body)
    }
  }

  /// Runs a body in a Swift task that the call cancels when it is to end.
  func inOwnTask<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
    let body = SerialQueues.joined(body)
    let started = Lock<Task<Value, any Error>?>(nil)
    // From the first step on: what work does on the thread of its caller comes before it can be heeded.
    return try await withTaskCancellationHandler {
      let work = Self.started(body)
      started.withLock { $0 = work }
      heed(work)
      return try await work.value
    } onCancel: {
      cancel()
      started.withLock { $0 }?.cancel()  // that of a stream, too, whose body is what the call heeds
    }
  }

  private static func started<Value: Sendable>(
    _ body: @escaping @Sendable () async throws -> Value
  ) -> Task<Value, any Error> {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return Task { try await body() } }
    // At once, on the thread of the caller: work that does not wait costs no trip through the executor.
    return Task.immediate { try await body() }
  }
}
