#if canImport(Network)
  import Dispatch
  import Network

  /// Observes the system's network path until it is released.
  final class PathMonitor: Sendable {
    private let monitor: Lock<NWPathMonitor>

    init(onChange: @escaping @Sendable () -> Void) {
      let monitor = NWPathMonitor()
      let isStarted = Flag()
      monitor.pathUpdateHandler = { path in
        // The first update is the current path, not a change.
        if !isStarted.end(), path.status == .satisfied { onChange() }
      }
      monitor.start(queue: .global())
      self.monitor = Lock(monitor)
    }

    deinit { monitor.withLock { $0.cancel() } }
  }
#endif
