import ErrandFoundation

/// The requests in flight that may be joined.
final class FlightRegistry: Sendable {
  private let flights = Lock<[FlightKey: Flight]>([:])

  /// The flight for a request: the one under way, or a new one, which starts.
  func join(_ key: FlightKey, _ make: () -> Flight) -> (flight: Flight, isFirst: Bool) {
    if let flight = flights.withLock({ $0[key] }), flight.join() { return (flight, false) }
    let new = make()
    _ = new.join()
    let (flight, isFirst) = flights.withLock { flights in
      // Another call may have begun one meanwhile.
      if let flight = flights[key], flight.join() { return (flight, false) }
      flights[key] = new
      return (new, true)
    }
    if isFirst { flight.start { [self] in remove(key, flight) } }
    return (flight, isFirst)
  }

  /// A call is cancelled: the last one ends the flight.
  func leave(_ key: FlightKey, _ flight: Flight) {
    guard flight.left() else { return }
    remove(key, flight)
    flight.call.cancel()
  }

  /// No further call joins the flights for a URL: what they bring may be older than a change that has ended. Those who wait
  /// for one keep it.
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

/// The identity of a request: those with the same one share a flight.
struct FlightKey: Hashable, Sendable {
  private let server: ObjectIdentifier
  private let method: String
  let url: String
  private let target: CacheKey.Target
  private let headers: HTTPHeaders
  private let unpacks: Bool
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
  private let queues: Set<String>

  init(_ request: HTTPRequest, of call: Call) {
    let plan = call.plan
    server = ObjectIdentifier(plan.server)
    method = request.method.rawValue
    url = CacheKey.text(of: request.url.absoluteString)
    target = CacheKey.Target(request)
    headers = request.headers
    unpacks = request.options.decodesBody
    account = call.account(for: request.url)
    digest = request.options.digest
    addresses = request.options.addressPolicy.identity
    pins = request.options.pins
    networks = [request.options.allowsExpensiveNetworkAccess, request.options.allowsConstrainedNetworkAccess]
    priority = plan.priority  // an urgent call waits in no line of others
    var timeouts = request.options.timeouts
    timeouts.call = nil  // a deadline is each call's own
    self.timeouts = timeouts
    policy = plan.cachePolicy
    hedging = plan.hedging
    idempotency = plan.idempotency
    queues = SerialQueues.heldNames  // a step of the shared call may wait for one that a call which joined it holds
  }
}
