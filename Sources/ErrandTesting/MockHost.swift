import Dispatch
import Errand
import ErrandFoundation

/// The state shared by a server and its threads. The threads retain this object but not the server. Releasing the
/// server stops them.
final class MockHost: Sendable {
  /// The host whose request this thread is serving. A handler that stops the server must not wait for its own thread.
  @TaskLocal private static var served: ObjectIdentifier?

  let script: Lock<MockScript>
  let ledger: Lock<MockLedger>
  let bytesSent = Lock(0)
  private let listener: MockListener
  private let threads = DispatchGroup()

  init(requestLimit: Int, _ chaos: Chaos?) throws {
    script = Lock(MockScript(chaos))
    ledger = Lock(MockLedger(requestLimit: requestLimit))
    listener = try MockListener()
  }

  var port: UInt16 { listener.port }

  func start() throws {
    let isStarted = onThread { [self] in
      while let socket = listener.accept() { serve(socket) }
      listener.release()
    }
    guard isStarted else {
      listener.release()
      throw MockServerError("can't create a thread for the server")
    }
  }

  /// Stops all threads. If `waits` is `true`, waits up to five seconds for them to end, because a route's handler may
  /// be slow.
  func stop(waits: Bool) {
    let arrivals = ledger.withLock { ledger -> [MockLedger.Arrival]? in
      let arrivals = ledger.stop()
      // Do this while holding the lock: a socket that has left the ledger may be closed, and its descriptor reused.
      if arrivals != nil { for socket in ledger.sockets { socket.interrupt() } }
      return arrivals
    }
    guard let arrivals else { return }
    MockSocket(descriptor: listener.wakeUp).release()
    script.withLock { $0.removeAll() }
    for arrival in arrivals { arrival.continuation.resume(throwing: MockServerError.stopped) }
    if waits, Self.served != ObjectIdentifier(self) { _ = threads.wait(timeout: .now() + 5) }
  }

  func record(_ request: MockRequest) { resume(ledger.withLock { $0.record(request) }) }

  /// Waits for an event. Throws `CancellationError` if cancelled, and ``MockServerError`` if the server stops.
  func wait(for awaited: MockLedger.Awaited) async throws -> MockRequest? {
    let id = ledger.withLock { $0.newID() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let arrivals = ledger.withLock { $0.wait(id, for: awaited, continuation) }
        resume(arrivals)
        // If the task was cancelled or the server stopped before the waiter was added, nothing else removes the waiter.
        if Task.isCancelled { giveUp(id, because: CancellationError()) }
        if ledger.withLock({ $0.isStopped }) { giveUp(id, because: MockServerError.stopped) }
      }
    } onCancel: {
      giveUp(id, because: CancellationError())
    }
  }

  private func giveUp(_ id: Int, because reason: any Error) {
    ledger.withLock { $0.giveUp(id) }?.resume(throwing: reason)
  }

  private func resume(_ arrivals: [MockLedger.Arrival]) {
    for arrival in arrivals { arrival.continuation.resume(returning: arrival.request) }
  }

  private func serve(_ socket: MockSocket) {
    guard let (index, arrivals) = ledger.withLock({ $0.open(socket) }) else { return socket.release() }
    resume(arrivals)
    let isStarted = onThread { [self] in
      var connection = MockConnection(socket, index: index, host: self)
      Self.$served.withValue(ObjectIdentifier(self)) { connection.serve() }
      let arrivals = ledger.withLock { $0.close(socket) }
      socket.release()
      resume(arrivals)
    }
    guard !isStarted else { return }
    resume(ledger.withLock { $0.close(socket) })
    socket.release()
  }

  /// Runs `body`, which blocks, on a new thread. Returns `false` if no thread can be created.
  private func onThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    let threads = threads
    threads.enter()
    let isStarted = DetachedThread.start("errand-mock") {
      body()
      threads.leave()
    }
    if !isStarted { threads.leave() }
    return isStarted
  }
}
