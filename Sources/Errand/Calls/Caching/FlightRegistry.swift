import ErrandFoundation

final class FlightRegistry: Sendable {
  private let flights = Lock<[FlightKey: Flight]>([:])

  /// Returns the call's seat in the flight for the key, which is started if this is its first call. Returns `nil` if a
  /// flight would wait for the call.
  func join(
    _ key: FlightKey, remaining: @escaping @Sendable () -> Duration?, _ make: () -> Flight
  ) -> (seat: Flight.Seat, isFirst: Bool)? {
    if let seat = flights.withLock({ $0[key] })?.join(remaining) { return (seat, false) }
    let new = make()
    guard let own = new.join(remaining) else { return nil }
    let other = flights.withLock { flights -> Flight.Seat? in
      // Another call may have started a flight in the meantime.
      if let seat = flights[key]?.join(remaining) { return seat }
      flights[key] = new
      return nil
    }
    if let other {
      _ = own.left()
      return (other, false)
    }
    new.start { [self] in remove(key, new) }
    return (own, true)
  }

  /// Removes a cancelled call from a flight and cancels the flight if no other call is left.
  func leave(_ key: FlightKey, _ seat: Flight.Seat) {
    guard seat.left() else { return }
    remove(key, seat.flight)
    seat.flight.call.cancel()
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
  private let account: RequestAccount?
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
    account = call.account(of: request)
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
