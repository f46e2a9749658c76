/// The requests that a server has received, and those who wait for some: the machine behind its lock.
struct MockLedger: Sendable {
  /// An event that can be waited for.
  enum Awaited: Equatable {
    /// The next request that was not taken yet.
    case request
    /// That this many connections are open.
    case openConnections(Int)
  }

  /// A waiter whose wait is over; the request is nil where none was awaited.
  struct Arrival: Sendable {
    let continuation: CheckedContinuation<MockRequest?, any Error>
    let request: MockRequest?
  }

  private struct Waiter {
    let id: Int
    let awaited: Awaited
    let continuation: CheckedContinuation<MockRequest?, any Error>
  }

  /// The first requests, as many as are kept.
  private(set) var requests: [MockRequest] = []
  private(set) var requestCount = 0
  private(set) var connectionCount = 0
  private(set) var peakConnections = 0
  private(set) var sockets: Set<MockSocket> = []
  private(set) var isStopped = false

  private let requestLimit: Int
  private var takenCount = 0
  private var waiters: [Waiter] = []
  private var lastID = 0

  init(requestLimit: Int) { self.requestLimit = requestLimit }

  /// A request was read as far as it will be.
  mutating func record(_ request: MockRequest) -> [Arrival] {
    requestCount += 1
    if requests.count < requestLimit { requests.append(request) }
    return arrivals()
  }

  /// A connection was accepted. Returns its index; nil when the server has stopped, so that it is to be closed.
  mutating func open(_ socket: MockSocket) -> (index: Int, arrivals: [Arrival])? {
    guard !isStopped else { return nil }
    sockets.insert(socket)
    peakConnections = max(peakConnections, sockets.count)
    connectionCount += 1
    return (connectionCount - 1, arrivals())
  }

  /// A connection is about to be closed.
  mutating func close(_ socket: MockSocket) -> [Arrival] {
    sockets.remove(socket)
    return arrivals()
  }

  /// The server stops. Returns those who wait, in vain; nil when it had stopped before.
  mutating func stop() -> [Arrival]? {
    guard !isStopped else { return nil }
    isStopped = true
    defer { waiters = [] }
    return waiters.map { Arrival(continuation: $0.continuation, request: nil) }
  }

  /// The identifier of a new waiter.
  mutating func newID() -> Int {
    lastID += 1
    return lastID
  }

  /// A waiter begins to wait; its wait may be over at once.
  mutating func wait(
    _ id: Int, for awaited: Awaited, _ continuation: CheckedContinuation<MockRequest?, any Error>
  ) -> [Arrival] {
    waiters.append(Waiter(id: id, awaited: awaited, continuation: continuation))
    return arrivals()
  }

  /// Removes a waiter and returns it; nil when its wait was over already.
  mutating func giveUp(_ id: Int) -> CheckedContinuation<MockRequest?, any Error>? {
    guard let index = waiters.firstIndex(where: { $0.id == id }) else { return nil }
    return waiters.remove(at: index).continuation
  }

  /// Takes those out whose wait is over, in the order in which they came.
  private mutating func arrivals() -> [Arrival] {
    guard !waiters.isEmpty else { return [] }
    var arrivals: [Arrival] = []
    var others: [Waiter] = []
    for waiter in waiters {
      switch waiter.awaited {
      case .request where takenCount < requests.count:
        arrivals.append(Arrival(continuation: waiter.continuation, request: requests[takenCount]))
        takenCount += 1
      case .openConnections(sockets.count):
        arrivals.append(Arrival(continuation: waiter.continuation, request: nil))
      default: others.append(waiter)
      }
    }
    waiters = others
    return arrivals
  }
}
