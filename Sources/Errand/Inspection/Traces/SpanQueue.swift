/// The spans that wait to be exported, and the Swift task that exports them while there are any.
final class SpanQueue: Sendable {
  private struct State {
    var spans: [RecordedSpan] = []
    var dropped = 0
    /// The spans that were added so far, and those of them that were handed over or lost.
    var added = 0
    var done = 0
    /// The number of spans that are not to wait for others.
    var hurried = 0
    /// Those who wait until so many are done.
    var waiters: [(count: Int, waiter: Waiter<Void>)] = []
    /// Exports until there is nothing left; nil while there is nothing.
    var work: Task<Void, Never>?
    /// Its wait for more spans.
    var nap: Task<Void, Never>?
    var hasFailed = false
  }

  private let exporter: SpanExporter
  private let resource: [(name: String, value: String)]
  private let limits: SpanLimits
  private let clock: CallClock
  private let log: TextSink
  private let state = Lock(State())

  init(
    _ exporter: SpanExporter, resource: [(name: String, value: String)], limits: SpanLimits, clock: CallClock,
    log: TextSink
  ) {
    self.exporter = exporter
    self.resource = resource
    self.limits = limits
    self.clock = clock
    self.log = log
  }

  var dropped: Int { state.withLock { $0.dropped } }

  /// Adds spans, as far as there is room.
  func add(_ spans: [RecordedSpan]) {
    let nap = state.withLock { state -> Task<Void, Never>? in
      let room = max(0, limits.waiting - state.spans.count)
      state.spans += spans.prefix(room)
      state.added += min(room, spans.count)
      state.dropped += max(0, spans.count - room)
      // Detached: what surrounds the call, its trace first of all, is none of the exporter's.
      if state.work == nil { state.work = Task.detached(priority: .utility) { await self.work() } }
      return state.spans.count >= limits.batch ? state.nap.take() : nil
    }
    nap?.cancel()
  }

  /// Has what waits exported at once.
  func hurry() {
    let nap = state.withLock { state in
      state.hurried = state.added
      return state.nap.take()
    }
    nap?.cancel()
  }

  /// Exports what waits now; returns when that is done, whatever comes meanwhile.
  func flush() async {
    hurry()
    await answer { waiter in
      state.withLock { state -> Void? in
        guard state.done < state.added else { return () }
        state.waiters.append((state.added, waiter))
        return nil
      }
    }
  }

  // MARK: The work

  private func work() async {
    repeat {
      await nap()
      if let batch = next() { await export(batch) }
    } while !isDone()
  }

  /// Waits for more spans, unless there are enough, or somebody waits for these.
  private func nap() async {
    let nap = state.withLock { state -> Task<Void, Never>? in
      guard state.done >= state.hurried, state.spans.count < limits.batch else { return nil }
      let nap = Task.detached { [clock, limits] in
        do { try await clock.sleep(for: limits.delay) } catch { return }  // there are enough
      }
      state.nap = nap
      return nap
    }
    await nap?.value
    state.withLock { $0.nap = nil }
  }

  private func next() -> [RecordedSpan]? {
    state.withLock { state in
      guard !state.spans.isEmpty else { return nil }
      let batch = Array(state.spans.prefix(limits.batch))
      state.spans.removeFirst(batch.count)
      return batch
    }
  }

  /// True where nothing is left; the next span begins the work anew.
  private func isDone() -> Bool {
    state.withLock { state in
      guard state.spans.isEmpty else { return false }
      state.work = nil
      return true
    }
  }

  private func export(_ batch: [RecordedSpan]) async {
    do {
      let rejected = try await exporter.export(batch, resource)
      state.withLock { state in
        state.dropped += min(max(0, rejected), batch.count)  // a collector may say anything
        state.hasFailed = false
      }
    } catch {
      let isFirst = state.withLock { state in
        state.dropped += batch.count
        defer { state.hasFailed = true }
        return !state.hasFailed
      }
      if isFirst { log.write("\(batch.count) spans are lost, and later ones may be: \(error)") }
    }
    let waiters = state.withLock { state -> [Waiter<Void>] in
      state.done += batch.count
      let ready = state.waiters.prefix { $0.count <= state.done }  // they came in this order
      state.waiters.removeFirst(ready.count)
      return ready.map(\.waiter)
    }
    for waiter in waiters { waiter.resume() }
  }
}
