/// The requests that a server has received, and the tasks that wait for requests.
struct MockLedger: Sendable {
  enum Awaited: Equatable {
    /// The next request that has not been returned yet.
    case request
    /// Exactly this number of open connections.
    case openConnections(Int)
  }

  /// A waiter to resume. `request` is `nil` if the waiter did not wait for a request.
  struct Arrival: Sendable {
    let continuation: CheckedContinuation<MockRequest?, any Error>
    let request: MockRequest?
  }

  private struct Waiter {
    let id: Int
    let awaited: Awaited
    let continuation: CheckedContinuation<MockRequest?, any Error>
  }

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

  mutating func record(_ request: MockRequest) -> [Arrival] {
    requestCount += 1
    if requests.count < requestLimit { requests.append(request) }
    return arrivals()
  }

  /// Records an accepted connection. Returns its index, or `nil` if the server has stopped and the connection must be
  /// closed.
  mutating func open(_ socket: MockSocket) -> (index: Int, arrivals: [Arrival])? {
    guard !isStopped else { return nil }
    sockets.insert(socket)
    peakConnections = max(peakConnections, sockets.count)
    connectionCount += 1
    return (connectionCount - 1, arrivals())
  }

  mutating func close(_ socket: MockSocket) -> [Arrival] {
    sockets.remove(socket)
    return arrivals()
  }

  /// Stops the server. Returns the remaining waiters, or `nil` if the server has already stopped.
  mutating func stop() -> [Arrival]? {
    guard !isStopped else { return nil }
    isStopped = true
    defer { waiters = [] }
    return waiters.map { Arrival(continuation: $0.continuation, request: nil) }
  }

  mutating func newID() -> Int {
    lastID += 1
    return lastID
  }

  mutating func wait(
    _ id: Int, for awaited: Awaited, _ continuation: CheckedContinuation<MockRequest?, any Error>
  ) -> [Arrival] {
    waiters.append(Waiter(id: id, awaited: awaited, continuation: continuation))
    return arrivals()
  }

  mutating func giveUp(_ id: Int) -> CheckedContinuation<MockRequest?, any Error>? {
    guard let index = waiters.firstIndex(where: { $0.id == id }) else { return nil }
    return waiters.remove(at: index).continuation
  }

  /// Removes and returns the waiters that are ready, in order of arrival.
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
