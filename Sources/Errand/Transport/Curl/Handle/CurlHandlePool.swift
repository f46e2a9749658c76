#if os(Linux)
  import CCurl

  /// A transport's unused easy handles on one loop. They cache DNS results and TLS sessions.
  final class CurlHandlePool: Sendable {
    /// An unused handle, owned by the pool.
    private struct Idle: Sendable {
      nonisolated(unsafe) let handle: CurlHandle
    }

    private struct State {
      var idle: [Idle] = []
      var busy = 0
    }

    private let state = Lock(State())

    /// The number of exchanges in progress.
    var busy: Int { state.withLock { $0.busy } }

    func take() throws(TaskError) -> CurlHandle {
      let idle = state.withLock { state in
        state.busy += 1
        return state.idle.popLast()
      }
      if let idle { return idle.handle }
      guard let pointer = ccurl_easy_init() else {
        state.withLock { $0.busy -= 1 }
        throw TaskError(.internal, "could not create a libcurl handle: not enough memory", phase: .preparing)
      }
      return CurlHandle(pointer)
    }

    /// Records the end of an exchange. Call this before resuming its reader, which might start the next exchange
    /// immediately.
    func ended() { state.withLock { $0.busy -= 1 } }

    func giveBack(_ handle: CurlHandle) {
      let idle = Idle(handle: handle)
      state.withLock { state in
        if state.idle.count < 256 { state.idle.append(idle) }
      }
    }
  }
#endif
