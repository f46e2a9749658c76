#if HAS_URLSESSION
  #if canImport(FoundationNetworking)
    import Errand
    import Foundation
    import FoundationNetworking
  #else
    import Foundation
  #endif

  extension URLSessionExchange {
    func respond(_ head: HTTPURLResponse) {
      let now = clock.now
      let waiter = state.withLock { state in
        state.inbox.receive(head: head)
        state.timers.responded(at: now)
        defer { state.headWaiter = nil }
        return state.headWaiter
      }
      waiter?.resume(returning: .success(head))
      watchTimers()
    }

    func receive(_ data: Data) {
      let now = clock.now
      let handOver = state.withLock { state -> (Waiter<Result<Data?, any Error>>, Data)? in
        state.inbox.receive(data)
        state.timers.received(at: now)
        guard let waiter = state.chunkWaiter, case .take(let chunk?) = state.inbox.read() else { return nil }
        state.chunkWaiter = nil
        return (waiter, chunk)
      }
      if let (waiter, chunk) = handOver { waiter.resume(returning: .success(chunk)) }
      settle()
    }

    func waitForNetwork() {
      let now = clock.now
      state.withLock { $0.timers.waitsForNetwork(at: now) }
      watchTimers()
    }

    /// `total` is -1 if it is unknown.
    func sent(_ count: Int64, of total: Int64) {
      let now = clock.now
      let hasMoved = state.withLock { state in
        let stage = state.timers.stage
        state.timers.sent(all: total > 0 && count >= total, at: now)
        return state.timers.stage != stage
      }
      if hasMoved { watchTimers() }
    }

    func measured(_ measurements: Measurements) { state.withLock { $0.measurements = measurements } }

    func complete(_ error: (any Error)?) {
      let (ended, head, chunk) = state.withLock { state in
        state.isComplete = true
        state.inbox.finish(error.map { Self.failure($0, in: state) })
        let ended = Self.takeAll(from: &state)
        return (ended, state.inbox.readHead().result, ended.chunkWaiter == nil ? nil : state.inbox.read().result)
      }
      if let head { ended.headWaiter?.resume(returning: head) }
      if let chunk { ended.chunkWaiter?.resume(returning: chunk) }
      ended.watch?.cancel()
      ended.feed?.cancel()
    }

    private static func failure(_ error: any Error, in state: State) -> any Error {
      let timers = state.timers
      let failure = TaskError.ofURLSession(error, phase: timers.phase, nothingSeen: timers.nothingSeen)
      guard var failure = failure as? TaskError else { return failure }
      if failure.code == .connectionLost, state.inbox.isShort { failure = URLSessionInbox.short }
      failure.timings = state.measurements?.timings
      return failure
    }

    // MARK: Waiting for the reader

    /// Suspends or resumes the task to match the inbox. Compares the current states, so the order of concurrent calls
    /// does not matter.
    func settle() {
      guard Self.highWater < .max, state.withLock({ $0.isSuspended != $0.inbox.wantsPause }) else { return }
      Self.control.async { [self] in
        let now = clock.now
        let change = state.withLock { state -> (task: URLSessionTask, suspend: Bool)? in
          guard let task = state.task, !state.isComplete, state.isSuspended != state.inbox.wantsPause else {
            return nil
          }
          state.isSuspended = state.inbox.wantsPause
          state.timers.hold(state.isSuspended, at: now)
          return (task, state.isSuspended)
        }
        guard let change else { return }
        change.suspend ? change.task.suspend() : change.task.resume()
        watchTimers()
      }
    }
  }

  #if canImport(Darwin)
    extension URLSessionExchange {
      /// The number of buffered bytes at which the task is suspended until the reader catches up.
      static let highWater = 1 << 20
    }
  #else
    extension URLSessionExchange {
      /// No limit: FoundationNetworking resends the request if a task is suspended while it receives the body.
      static let highWater = Int.max
    }
  #endif
#endif
