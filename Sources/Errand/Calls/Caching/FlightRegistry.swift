import ErrandFoundation

final class FlightRegistry: Sendable {
  private let flights = Lock<[FlightKey: Flight]>([:])

  func join(_ key: FlightKey, _ make: () -> Flight) -> (flight: Flight, isFirst: Bool) {
    if let flight = flights.withLock({ $0[key] }), flight.join() { return (flight, false) }
    let new = make()
    _ = new.join()
    let (flight, isFirst) = flights.withLock { flights in
      // Another call may have started a flight in the meantime.
      if let flight = flights[key], flight.join() { return (flight, false) }
      flights[key] = new
      return (new, true)
    }
    if isFirst { flight.start { [self] in remove(key, flight) } }
    return (flight, isFirst)
  }

  /// Removes a cancelled call from a flight, and cancels the flight if no other call is left.
  func leave(_ key: FlightKey, _ flight: Flight) {
    guard flight.left() else { return }
    remove(key, flight)
    flight.call.cancel()
  }

  /// Closes the flights for a URL to new calls, because their responses may predate a change. Calls that are already
  /// waiting are not affected.
  func close(_ url: String) {
    flights.withLock { flights in
      guard !flights.isEmpty else { return }
      for key in flights.keys where key.url == url { flights[key] = nil }
    }
  }

  private func remove(_ key: FlightKey, _ flight: Flight) {
    flights.withLock { if $0[key] === flight { $0[key] = nil } }
  }
}

/// Identifies a request. Concurrent calls with equal keys share a flight.
struct FlightKey: Hashable, Sendable {
  /// The settings, because a call must not join a request that was sent with older ones.
  private let snapshot: ObjectIdentifier
  private let method: String
  let url: String
  private let target: CacheKey.Target
  private let range: ByteRange?
  private let headers: HTTPHeaders
  private let decompresses: Bool
  private let account: String?
  private let digest: Credential?
  private let addresses: AddressPolicy.Identity
  private let pins: PublicKeyPins
  private let networks: [Bool]
  private let priority: CallPriority
  private let timeouts: Timeouts
  private let policy: CachePolicy
  private let hedging: Hedging
  private let idempotency: Idempotency
  /// The work that the call belongs to: the shared request might wait for it.
  private let work: [WaitGraph.Node]

  init(_ request: HTTPRequest, of call: Call) {
    let plan = call.plan
    snapshot = ObjectIdentifier(call.snapshot)
    range = plan.range
    method = request.method.rawValue
    url = CacheKey.text(of: request.url.absoluteString)
    target = CacheKey.Target(request)
    headers = request.headers
    decompresses = request.options.decodesBody
    account = call.account(for: request.url)
    digest = request.options.digest
    addresses = request.options.addressPolicy.identity
    pins = request.options.pins
    networks = [request.options.allowsExpensiveNetworkAccess, request.options.allowsConstrainedNetworkAccess]
    priority = plan.priority  // an urgent call must not wait behind others
    var timeouts = request.options.timeouts
    timeouts.call = nil  // each call has its own deadline
    self.timeouts = timeouts
    policy = plan.cachePolicy
    hedging = plan.hedging
    idempotency = plan.idempotency
    work = WaitNode.current.map(\.id)
  }
}
