#if HAS_URLSESSION
  #if canImport(FoundationNetworking)
    import Errand
    import Foundation
    import FoundationNetworking
  #else
    import Foundation
  #endif

  /// A request in progress in a URLSession, and the body of its response.
  ///
  /// The delegate reports events to the exchange, and a single reader reads from it. ``URLSessionInbox`` and
  /// ``URLSessionTimers`` make decisions under the lock, and the exchange acts on them outside the lock.
  final class URLSessionExchange: Sendable {
    struct Measurements: Sendable {
      var timings: TransferTimings
      var version: HTTPVersion?
      var isConnectionReused: Bool
    }

    struct State {
      var inbox: URLSessionInbox
      var timers: URLSessionTimers
      var headWaiter: Waiter<Result<HTTPURLResponse, any Error>>?
      var chunkWaiter: Waiter<Result<Data?, any Error>>?
      var task: URLSessionTask?
      var watch: Task<Void, Never>?
      var feed: Task<Void, Never>?
      var sendCount = 0
      var isSuspended = false
      /// Whether URLSession has completed the task, so there is nothing to cancel.
      var isComplete = false
      var measurements: Measurements?
    }

    let request: HTTPRequest
    let clock: CallClock
    let state: Lock<State>

    /// The queue on which tasks are suspended, resumed and cancelled. On Linux, `cancel()` waits for a queue that may
    /// be waiting for the calling thread.
    static let control = DispatchQueue(label: "errand.urlsession")

    init(_ request: HTTPRequest, clock: CallClock) {
      self.request = request
      self.clock = clock
      let timers = URLSessionTimers(request.options.timeouts, hasBody: !request.body.isEmpty, at: clock.now)
      let inbox = URLSessionInbox(highWater: Self.highWater, method: request.method)
      state = Lock(State(inbox: inbox, timers: timers))
    }

    /// Starts the task, or cancels it if the exchange has already failed.
    func start(_ task: URLSessionTask) {
      let maySend = state.withLock { state in
        state.task = task
        if case .fail = state.inbox.readHead() { return false }
        return true
      }
      guard maySend else { return Self.control.async { task.cancel() } }
      task.resume()
      watchTimers()
    }

    /// Fails the exchange and every waiter with `error`. Does nothing if everything was already read.
    func fail(_ error: any Error) {
      let ended = state.withLock { state -> State? in
        guard state.inbox.abandon(error) else { return nil }
        return Self.takeAll(from: &state)
      }
      guard let ended else { return }
      ended.headWaiter?.resume(returning: .failure(error))
      ended.chunkWaiter?.resume(returning: .failure(error))
      ended.watch?.cancel()
      ended.feed?.cancel()
      if let task = ended.task, !ended.isComplete { Self.control.async { task.cancel() } }
    }

    static func takeAll(from state: inout State) -> State {
      let taken = state
      state.headWaiter = nil
      state.chunkWaiter = nil
      state.watch = nil
      state.feed = nil
      return taken
    }

    var measurements: Measurements? { state.withLock { $0.measurements } }

    // MARK: The reader's side

    func head() async throws -> HTTPURLResponse {
      let head: Result<HTTPURLResponse, any Error> = await answer { waiter in
        state.withLock { state in
          let result = state.inbox.readHead().result
          if result == nil { state.headWaiter = waiter }
          return result
        }
      } onCancel: {
        fail(CancellationError())
      }
      return try head.get()
    }
  }

  extension URLSessionExchange: HTTPBodySource {
    func next() async throws -> Data? {
      let chunk: Result<Data?, any Error> = await answer { waiter in
        state.withLock { state in
          if Task.isCancelled { return .failure(CancellationError()) }
          let result = state.inbox.read().result
          if result == nil { state.chunkWaiter = waiter }
          return result
        }
      } onCancel: {
        fail(CancellationError())
      }
      settle()
      return try chunk.get()
    }

    func cancel() { fail(CancellationError()) }

    var timings: TransferTimings? { measurements?.timings }
  }
#endif
