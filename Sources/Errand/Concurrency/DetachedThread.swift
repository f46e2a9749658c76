import ErrandFoundation

/// Threads for blocking work, which must not run on Swift's cooperative thread pool.
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

    private func nameThread() {
      #if canImport(Darwin)
        pthread_setname_np(name)
      #elseif os(Linux)
        // glibc has `pthread_setname_np`, but Swift's overlay doesn't expose it.
        let descriptor = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = name.withCString { write(descriptor, $0, min(15, strlen($0))) }
        close(descriptor)
      #endif
    }
  }

  /// A thread's stack size. musl's default, 128 KiB, is too small for a TLS handshake.
  private static let stackSize = 1 << 20

  /// Runs `body` on a new thread. Returns `false` if the system can't create a thread.
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

  /// The start function of every thread. The pointer is optional only because the C signature requires it.
  private static func run(_ work: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let work { Unmanaged<Work>.fromOpaque(work).takeRetainedValue().run() }
    return nil
  }
}
