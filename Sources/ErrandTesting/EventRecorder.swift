public import Errand

/// Keeps what an observer is told, and says whether everything that started has ended.
///
///     let recorder = EventRecorder()
///     await shop.update { $0.observers = [recorder] }
///     _ = try await GetWidget(id: 7).on(shop).download()
///     #expect(recorder.isBalanced)
public final class EventRecorder: TaskObserver, Sendable {
  private struct State {
    var events: [TaskEvent] = []
    var open: [String: Int] = [:]
    var waiters: [CheckedContinuation<Void, Never>] = []

    var problems: [String] {
      open.compactMap { name, count in
        switch count {
        case 0: nil
        case 1: "\(name) has not ended"
        case 1...: "\(name) started \(count) times more than it ended"
        default: "\(name) ended \(-count) times more than it started"
        }
      }.sorted()
    }
  }

  private let state = Lock(State())

  /// A recorder that has seen nothing.
  public init() {}

  /// At once, so that a test sees what has happened by then.
  public var delivery: ObserverDelivery { .inline }

  /// Keeps the event.
  public func observe(_ event: TaskEvent) {
    let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      state.events.append(event)
      if let (name, step) = Self.bracket(event.moment) {
        state.open["\(name) of call \(event.call)", default: 0] += step
      }
      guard state.problems.isEmpty else { return [] }
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// The events, in order.
  public var events: [TaskEvent] { state.withLock { $0.events } }

  /// The moments of one call, or of all, in words.
  public func moments(of call: Int? = nil) -> [String] {
    events.filter { call == nil || $0.call == call }.map { $0.moment.description }
  }

  /// True when every call, attempt and delay that started has ended, each exactly once.
  public var isBalanced: Bool { problems.isEmpty }

  /// The moments that started and have not ended, or ended without having started; empty when all is well.
  public var problems: [String] { state.withLock { $0.problems } }

  /// Waits until everything that started has ended: a stream ends shortly after its body.
  public func balanced() async {
    await withCheckedContinuation { continuation in
      let isBalanced = state.withLock { state in
        guard !state.problems.isEmpty else { return true }
        state.waiters.append(continuation)
        return false
      }
      if isBalanced { continuation.resume() }
    }
  }

  /// The bracket that a moment opens or closes.
  private static func bracket(_ moment: CallMoment) -> (name: String, step: Int)? {
    switch moment {
    case .callStarted: ("the call", 1)
    case .callEnded: ("the call", -1)
    case .attemptStarted(let number): ("attempt \(number)", 1)
    case .attemptEnded(let number, _): ("attempt \(number)", -1)
    case .refreshStarted: ("the wait for a token", 1)
    case .refreshEnded: ("the wait for a token", -1)
    case .delayStarted: ("the delay", 1)
    case .delayEnded: ("the delay", -1)
    default: nil
    }
  }
}
