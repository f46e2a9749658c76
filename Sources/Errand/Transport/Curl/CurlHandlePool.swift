#if os(Linux)
  import CCurl

  /// The easy handles of a transport on one loop that are not in use; kept, for they remember names and TLS sessions.
  final class CurlHandlePool: Sendable {
    private struct State {
      var idle: [CurlHandle] = []
      var busy = 0
    }

    private let state = Lock(State())

    deinit {
      for handle in state.withLock({ $0.idle }) { ccurl_easy_cleanup(handle.pointer) }
    }

    /// How many are in use.
    var busy: Int { state.withLock { $0.busy } }

    func take() throws(TaskError) -> CurlHandle {
      let idle = state.withLock { state in
        state.busy += 1
        return state.idle.popLast()
      }
      if let idle { return idle }
      guard let pointer = ccurl_easy_init() else {
        state.withLock { $0.busy -= 1 }
        throw TaskError(.internal, "libcurl has no memory for a handle", phase: .preparing)
      }
      return CurlHandle(pointer: pointer)
    }

    /// Does away with a handle that is not to be used again.
    func drop(_ handle: CurlHandle) { ccurl_easy_cleanup(handle.pointer) }

    /// An exchange is over; said before its reader knows, who may begin the next at once.
    func ended() { state.withLock { $0.busy -= 1 } }

    func giveBack(_ handle: CurlHandle) {
      let isKept = state.withLock { state in
        guard state.idle.count < 256 else { return false }
        state.idle.append(handle)
        return true
      }
      if !isKept { ccurl_easy_cleanup(handle.pointer) }
    }
  }
#endif
