import Errand

/// The spans waiting to be exported, and the task that exports them.
final class SpanQueue: Sendable {
  private struct State {
    /// The full batches, and the batch currently being filled.
    var full: [SpanBatch] = []
    var open = SpanBatch()
    /// An exported batch whose memory can be reused.
    var spare: SpanBatch?
    var waiting = 0
    var dropped = 0
    /// The number of spans that must be exported without waiting for more.
    var hurried = 0
    /// The task that exports until the queue is empty. `nil` while the queue is empty.
    var work: Task<Void, Never>?
    /// The task that sleeps while `work` waits for more spans.
    var nap: Task<Void, Never>?
    var hasFailed = false
  }

  private let exporter: SpanExporter
  private let resource: [(name: String, value: String)]
  private let limits: SpanLimits
  private let clock: CallClock
  private let log: LogOutput
  private let state = Lock(State())
  /// Tracks which of the added spans have been exported or lost.
  private let exports = Completion()

  init(
    _ exporter: SpanExporter, resource: [(name: String, value: String)], limits: SpanLimits, clock: CallClock,
    log: LogOutput
  ) {
    self.exporter = exporter
    self.resource = resource
    self.limits = limits
    self.clock = clock
    self.log = log
  }

  var dropped: Int { state.withLock { $0.dropped } }

  /// Adds a call's spans. Drops spans that exceed the limit.
  func add(_ assembly: SpanAssembly) {
    let spans = CallSpans(assembly, exporter.form)
    let nap = state.withLock { state -> Task<Void, Never>? in
      let taken = min(spans.count, max(0, limits.waiting - state.waiting))
      put(spans, taken, into: &state)
      state.dropped += spans.count - taken
      // Detached, so that the exporter does not inherit the call's context, such as its trace.
      if state.work == nil { state.work = Task.detached(priority: .utility) { await self.work() } }
      return state.waiting >= limits.batch ? state.nap.take() : nil
    }
    nap?.cancel()
  }

  private func put(_ spans: CallSpans, _ taken: Int, into state: inout State) {
    var start = 0
    while start < taken {
      let end = min(taken, start + limits.batch - state.open.count)
      state.open.add(start..<end, of: spans, resource: resource)
      start = end
      guard state.open.count >= limits.batch else { continue }
      state.full.append(state.open)
      state.open = state.spare.take() ?? SpanBatch()
    }
    state.waiting += taken
    exports.begin(taken)
  }

  func hurry() {
    let nap = state.withLock { state in
      state.hurried = exports.begun
      return state.nap.take()
    }
    nap?.cancel()
  }

  /// Exports the waiting spans. Returns when they have been exported, or when the surrounding task is cancelled.
  func flush() async {
    hurry()
    await exports.wait()
  }

  // MARK: The work

  private func work() async {
    repeat {
      await nap()
      if var batch = next() { await export(&batch) }
    } while !isDone()
  }

  /// Waits for more spans, unless a batch is full or a flush is pending.
  private func nap() async {
    let nap = state.withLock { state -> Task<Void, Never>? in
      guard exports.ended >= state.hurried, state.waiting < limits.batch else { return nil }
      let nap = Task.detached { [clock, limits] in
        do { try await clock.sleep(for: limits.delay) } catch { return }  // cancelled when there are enough spans
      }
      state.nap = nap
      return nap
    }
    await nap?.value
    state.withLock { $0.nap = nil }
  }

  private func next() -> SpanBatch? {
    state.withLock { state in
      if state.full.isEmpty, state.open.count > 0 {
        state.full.append(state.open)
        state.open = state.spare.take() ?? SpanBatch()
      }
      guard !state.full.isEmpty else { return nil }
      let batch = state.full.removeFirst()
      state.waiting -= batch.count
      return batch
    }
  }

  /// Returns whether the queue is empty. If so, the next span will start a new task.
  private func isDone() -> Bool {
    state.withLock { state in
      guard state.waiting == 0 else { return false }
      state.work = nil
      return true
    }
  }

  private func export(_ batch: inout SpanBatch) async {
    let count = batch.count
    batch.close(exporter.form)
    do {
      let rejected = try await exporter.export(batch)
      state.withLock { state in
        state.dropped += min(max(0, rejected), count)  // the collector's number may be wrong
        state.hasFailed = false
      }
    } catch {
      let isFirst = state.withLock { state in
        state.dropped += count
        defer { state.hasFailed = true }
        return !state.hasFailed
      }
      if isFirst { log.write("\(count) spans could not be exported and were dropped: \(error)") }
    }
    batch.removeAll()
    let empty = batch
    batch = SpanBatch()
    state.withLock { state in
      state.spare = state.waiting > 0 ? empty : nil  // release the memory while the queue is idle
    }
    exports.end(count)
  }
}
