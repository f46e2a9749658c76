#if os(Linux)
  import CCurl

  /// The easy handles of a transport that are not in use; kept, for they remember names and TLS sessions.
  final class CurlHandlePool: Sendable {
    private let idle = Lock<[CurlHandle]>([])

    deinit {
      for handle in idle.withLock({ $0 }) { ccurl_easy_cleanup(handle.pointer) }
    }

    func take() throws(TaskError) -> CurlHandle {
      if let handle = idle.withLock({ $0.popLast() }) { return handle }
      guard let pointer = ccurl_easy_init() else {
        throw TaskError(.internal, "libcurl has no memory for a handle", phase: .preparing)
      }
      return CurlHandle(pointer: pointer)
    }

    /// Does away with a handle that is not to be used again.
    func drop(_ handle: CurlHandle) { ccurl_easy_cleanup(handle.pointer) }

    func giveBack(_ handle: CurlHandle) {
      let isKept = idle.withLock { idle in
        guard idle.count < 256 else { return false }
        idle.append(handle)
        return true
      }
      if !isKept { drop(handle) }
    }
  }
#endif
