/// The calls that are under way, so that they can be cancelled from outside.
///
/// Every call runs in a Swift task of its own, which is how `cancelAll()` can end a call without cancelling the task
/// that awaits it. The child starts at once, on the thread of its caller.
final class CallRegistry: Sendable {
  private struct Entry {
    let call: Call
    let cancel: @Sendable () -> Void
  }

  private let entries = Lock<[Int: Entry]>([:])

  /// Runs `body` as `call`.
  ///
  /// - Parameters:
  ///   - call: The call.
  ///   - body: What to run.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws; `CancellationError` when the surrounding task was cancelled, whatever came of it.
  func run<Value: Sendable>(
    _ call: Call, _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try Task.checkCancellation()
    let work = start(body)
    enterUnlessHandedOver(call) { work.cancel() }
    // A stream stays until its body has ended; it leaves by itself.
    defer { if !call.isHandedOver { leave(call) } }
    let value = try await withTaskCancellationHandler {
      try await work.value
    } onCancel: {
      work.cancel()
    }
    try Task.checkCancellation()
    return value
  }

  /// Has `cancel` called when the call is to end; for the time when a body is read, after ``run(_:_:)``.
  func enter(_ call: Call, cancel: @escaping @Sendable () -> Void) {
    entries.withLock { $0[call.number] = Entry(call: call, cancel: cancel) }
  }

  private func enterUnlessHandedOver(_ call: Call, cancel: @escaping @Sendable () -> Void) {
    entries.withLock { entries in
      // The child may have handed its body over before this line, and entered the call itself.
      guard !call.isHandedOver else { return }
      entries[call.number] = Entry(call: call, cancel: cancel)
    }
  }

  /// The call is over.
  func leave(_ call: Call) { entries.withLock { $0[call.number] = nil } }

  /// Cancels the calls whose plan is `wanted`; returns how many there were.
  @discardableResult
  func cancel(where wanted: (TaskPlan) -> Bool) -> Int {
    let chosen = entries.withLock { Array($0.values) }.filter { wanted($0.call.plan) }
    for entry in chosen { entry.cancel() }
    return chosen.count
  }

  /// Cancels one call, if it is still under way.
  func cancel(_ call: Call) { entries.withLock { $0[call.number]?.cancel }?() }

  var count: Int { entries.withLock { $0.count } }

  private func start<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) -> Task<Value, any Error> {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      return Task.immediate { try await body() }
    }
    return Task { try await body() }
  }
}
