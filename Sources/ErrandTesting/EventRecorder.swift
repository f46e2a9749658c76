public import Errand

/// Records the events of calls and checks that everything that started has ended.
///
///     let recorder = EventRecorder()
///     await shop.update { $0.observers = [recorder] }
///     _ = try await GetWidget(id: 7).on(shop).send()
///     #expect(recorder.isBalanced)
public final class EventRecorder: TaskObserver, Sendable {
  private struct State {
    var events: [TaskEvent] = []
    var balance = EventBalance()
    var lastWaiter = 0
    var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
  }

  private let state = Lock(State())

  /// Creates an empty recorder.
  public init() {}

  /// Inline, so that a test sees every event immediately.
  public var delivery: ObserverDelivery { .inline }

  /// Records an event.
  public func observe(_ event: TaskEvent) {
    let waiters = state.withLock { state -> [Int: CheckedContinuation<Void, Never>] in
      state.events.append(event)
      state.balance.note(event)
      guard state.balance.isAtRest else { return [:] }
      defer { state.waiters = [:] }
      return state.waiters
    }
    for waiter in waiters.values { waiter.resume() }
  }

  /// The events, in order.
  public var events: [TaskEvent] { state.withLock { $0.events } }

  /// Returns the descriptions of one call's moments, or of all calls' moments.
  public func moments(of call: Int? = nil) -> [String] {
    events.filter { call == nil || $0.call == call }.map { $0.moment.description }
  }

  /// Whether everything that started has ended exactly once, before its call ended, and no call had events after its
  /// end.
  public var isBalanced: Bool { state.withLock { $0.balance.isBalanced } }

  /// The moments that did not end, ended without starting, or arrived too late. Empty if everything is correct.
  public var problems: [String] { state.withLock { $0.balance.problems } }

  /// Waits until no call is running. A streamed call ends shortly after its body. Returns immediately if the
  /// surrounding task is cancelled.
  public func balanced() async {
    let id = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          guard !state.balance.isAtRest, !Task.isCancelled else { return true }
          state.waiters[id] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
    }
  }
}
