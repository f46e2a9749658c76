/// Keeps the last calls of the servers that it is installed in, in memory.
///
///     let calls = RecordedCalls()
///     await shop.update { $0.recorders.append(calls) }
///     …
///     try calls.archive.write(to: file)  // HAR, for the tools that read it
public final class RecordedCalls: CallRecorder {
  private struct State {
    var calls: [RecordedCall] = []
    var bytes = 0
    var dropped = 0
  }

  private let state = Lock(State())
  private let limit: Int
  private let byteLimit: Int

  /// A list of calls. The oldest are dropped where there are too many, the newest always stays.
  ///
  /// - Parameters:
  ///   - limit: The most calls.
  ///   - byteLimit: About the most bytes that they take.
  public init(limit: Int = 1000, byteLimit: Int = 64 << 20) {
    self.limit = max(1, limit)
    self.byteLimit = byteLimit
  }

  /// The calls in the order in which they ended.
  public var calls: [RecordedCall] { state.withLock { $0.calls } }

  /// The number of calls that were dropped because there were too many.
  public var dropped: Int { state.withLock { $0.dropped } }

  /// Adds a call.
  public func record(_ call: RecordedCall) {
    let size = call.size
    let released = state.withLock { state -> ArraySlice<RecordedCall> in
      state.calls.append(call)
      state.bytes += size
      var count = 0
      // A tenth at a time: to remove the first moves all others.
      guard state.calls.count > limit || state.bytes > byteLimit else { return [] }
      let (rest, bytes) = (max(1, limit - limit / 10), byteLimit - byteLimit / 10)
      while count < state.calls.count - 1, state.calls.count - count > rest || state.bytes > bytes {
        state.bytes -= state.calls[count].size
        count += 1
      }
      defer { state.calls.removeFirst(count) }
      state.dropped += count
      return state.calls.prefix(count)
    }
    withExtendedLifetime(released) {}  // outside of the lock
  }

  /// Forgets all calls.
  public func removeAll() { state.withLock { $0 = State() } }
}
