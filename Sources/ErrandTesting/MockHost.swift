import Dispatch
import Errand
import ErrandFoundation

/// The state that a server shares with its threads. They hold this and not the server, so that the server can end while they
/// run, and end them.
final class MockHost: Sendable {
  /// The host whose request the present thread serves: its handler may stop the server, which cannot wait for it.
  @TaskLocal private static var served: ObjectIdentifier?

  let script = Lock(MockScript())
  let ledger: Lock<MockLedger>
  /// The bytes of responses that clients, or the buffers on the way to them, have taken.
  let bytesSent = Lock(0)
  private let listener: MockListener
  private let threads = DispatchGroup()

  init(requestLimit: Int) throws {
    ledger = Lock(MockLedger(requestLimit: requestLimit))
    listener = try MockListener()
  }

  /// The port on 127.0.0.1.
  var port: UInt16 { listener.port }

  /// Accepts connections on a thread of its own, and serves each on another.
  func start() throws {
    let isStarted = onThread { [self] in
      while let socket = listener.accept() { serve(socket) }
      listener.release()
    }
    guard isStarted else {
      listener.release()
      throw MockServerError("the system gives no thread for the server")
    }
  }

  /// Ends all threads. Where it waits for them it does so for a second at most, because a handler of a route may take
  /// its time.
  func stop(waits: Bool) {
    let arrivals = ledger.withLock { ledger -> [MockLedger.Arrival]? in
      let arrivals = ledger.stop()
      // Under the lock, because a socket that has left the ledger may have been closed, and its number used again.
      if arrivals != nil { for socket in ledger.sockets { socket.interrupt() } }
      return arrivals
    }
    guard let arrivals else { return }
    MockSocket(descriptor: listener.wakeUp).release()
    script.withLock { $0.removeAll() }
    for arrival in arrivals { arrival.continuation.resume(throwing: MockServerError.stopped) }
    if waits, Self.served != ObjectIdentifier(self) { _ = threads.wait(timeout: .now() + 5) }
  }

  /// Notes that a request was read.
  func record(_ request: MockRequest) { resume(ledger.withLock { $0.record(request) }) }

  /// Waits until something has happened.
  /// Throws `CancellationError` when the surrounding task is cancelled, ``MockServerError`` when the server stops.
  func wait(for awaited: MockLedger.Awaited) async throws -> MockRequest? {
    let id = ledger.withLock { $0.newID() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let arrivals = ledger.withLock { $0.wait(id, for: awaited, continuation) }
        resume(arrivals)
        // Cancelled or stopped before it was in the ledger: nobody will look for it there again.
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

  /// Runs `body` on a new thread: it blocks, which Swift's own threads must not. False where there is none to be had.
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
