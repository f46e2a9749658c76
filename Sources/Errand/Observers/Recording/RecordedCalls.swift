/// Keeps the latest calls of one or more servers in memory.
///
///     let calls = RecordedCalls()
///     await shop.update { $0.recorders.append(calls) }
///     …
///     for call in calls.calls { print(call) }
public final class RecordedCalls: CallRecorder {
  private struct State {
    var calls: [RecordedCall] = []
    var bytes = 0
    var dropped = 0
  }

  private let state = Lock(State())
  private let limit: Int
  private let byteLimit: Int

  /// Creates an empty list. If a limit is exceeded, the oldest calls are dropped. The newest call is always kept.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of calls.
  ///   - byteLimit: The approximate maximum total size of the calls, in bytes.
  public init(limit: Int = 1000, byteLimit: Int = 64 << 20) {
    self.limit = max(1, limit)
    self.byteLimit = byteLimit
  }

  /// The calls, in the order in which they ended.
  public var calls: [RecordedCall] { state.withLock { $0.calls } }

  /// The number of calls that were dropped because a limit was exceeded.
  public var dropped: Int { state.withLock { $0.dropped } }

  /// Adds a call.
  public func record(_ call: RecordedCall) {
    let size = call.size
    let released = state.withLock { state -> ArraySlice<RecordedCall> in
      state.calls.append(call)
      state.bytes += size
      var count = 0
      // Drop a tenth of the calls at once, because removing the first element moves all others.
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
    withExtendedLifetime(released) {}  // release outside the lock
  }

  /// Removes all calls.
  public func removeAll() { state.withLock { $0 = State() } }
}
