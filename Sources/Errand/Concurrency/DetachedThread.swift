import ErrandFoundation

/// Threads for work that blocks, which Swift's own threads must not do.
package enum DetachedThread {
  private final class Work: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(_ name: String, _ body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }

    func run() {
      nameThread()
      body()
    }

    /// The name that a debugger shows; nothing depends on it.
    private func nameThread() {
      #if canImport(Darwin)
        pthread_setname_np(name)
      #elseif os(Linux)
        // glibc has a function for it that Swift's overlay leaves out.
        let descriptor = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = name.withCString { write(descriptor, $0, min(15, strlen($0))) }
        close(descriptor)
      #endif
    }
  }

  /// The stack of a thread: musl's own 128 KiB are little for a TLS handshake.
  private static let stackSize = 1 << 20

  /// Runs `body` on a new thread; false where the system has none to give.
  package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
    let work = Unmanaged.passRetained(Work(name, body))
    let isStarted = create(work.toOpaque())
    if !isStarted { work.release() }
    return isStarted
  }

  private static func create(_ work: UnsafeMutableRawPointer) -> Bool {
    var attributes = pthread_attr_t()
    guard pthread_attr_init(&attributes) == 0 else { return false }
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, stackSize)
    pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
    #if canImport(Darwin)
      var thread: pthread_t?
      return pthread_create(&thread, &attributes, { Self.run($0) }, work) == 0
    #elseif canImport(Musl)
      var thread: pthread_t?
      return pthread_create(&thread, &attributes, { Self.run($0) }, work) == 0
    #else
      var thread = pthread_t()
      return pthread_create(&thread, &attributes, { Self.run($0) }, work) == 0
    #endif
  }

  /// The start of every thread. C may hand it no pointer, which it never does.
  private static func run(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let work { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().run() }
    return nil
  }
}
