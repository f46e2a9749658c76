#if os(Linux)
  import CCurl

  /// The easy handles of a transport on one loop that are not in use; kept, for they remember names and TLS sessions.
  final class CurlHandlePool: Sendable {
    /// A handle that is not in use: it has one owner, the pool.
    private struct Idle: Sendable {
      nonisolated(unsafe) let handle: CurlHandle
    }

    private struct State {
      var idle: [Idle] = []
      var busy = 0
    }

    private let state = Lock(State())

    /// The number of handles in use.
    var busy: Int { state.withLock { $0.busy } }

    func take() throws(TaskError) -> CurlHandle {
      let idle = state.withLock { state in
        state.busy += 1
        return state.idle.popLast()
      }
      if let idle { return idle.handle }
      guard let pointer = ccurl_easy_init() else {
        state.withLock { $0.busy -= 1 }
        throw TaskError(.internal, "libcurl has no memory for a handle", phase: .preparing)
      }
      return CurlHandle(pointer)
    }

    /// An exchange is over; said before its reader knows, who may begin the next at once.
    func ended() { state.withLock { $0.busy -= 1 } }

    /// Takes back a handle from its last user.
    func giveBack(_ handle: CurlHandle) {
      let idle = Idle(handle: handle)
      state.withLock { state in
        if state.idle.count < 256 { state.idle.append(idle) }
      }
    }
  }
#endif
