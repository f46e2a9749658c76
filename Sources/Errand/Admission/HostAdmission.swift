/// The running and waiting calls of one host: its part of an ``Admission``.
struct HostAdmission {
  var running = 0
  var meter = RateMeter()
  /// The promised time of the next look at the host, for want of a token until then.
  var wakesAt: Duration?
  /// A line for each priority, and one before them; none until a call waits.
  private var lines: [WaitingLine] = []
  /// The ticket by which the host stands among those that could start a call, for each priority.
  private var announced: [Admission.Ticket?] = []
  private(set) var waiting = 0

  mutating func start(at now: Duration, _ rate: RateLimit) {
    running += 1
    meter.take(at: now, rate)
  }

  mutating func append(_ ticket: Admission.Ticket, _ level: Int, since: Duration) {
    if lines.isEmpty {
      lines = Array(repeating: WaitingLine(), count: CallPriority.allCases.count)
      announced = Array(repeating: nil, count: lines.count)
    }
    lines[level].append(ticket, since: since)
    waiting += 1
  }

  mutating func remove(_ ticket: Admission.Ticket) -> Bool {
    for level in lines.indices where lines[level].remove(ticket) {
      waiting -= 1
      return true
    }
    return false
  }

  /// The first of a line, where it is still the one with this ticket that was announced.
  func candidate(_ ticket: Admission.Ticket, _ level: Int) -> WaitingLine.Waiter? {
    guard waiting > 0, announced[level] == ticket, let first = lines[level].first, first.ticket == ticket else {
      return nil
    }
    return first
  }

  mutating func removeFirst(_ level: Int) {
    lines[level].removeFirst()
    waiting -= 1
    announced[level] = nil
  }

  /// The firsts of the lines that were not announced yet; they are from now on.
  mutating func announce() -> [(ticket: Admission.Ticket, level: Int)] {
    var news: [(ticket: Admission.Ticket, level: Int)] = []
    for level in lines.indices {
      guard let first = lines[level].first, announced[level] != first.ticket else { continue }
      announced[level] = first.ticket
      news.append((first.ticket, level))
    }
    return news
  }

  mutating func withdraw(_ level: Int) { announced[level] = nil }
}

/// The state of every known host: found by its origin once, then by its place.
///
/// A dictionary of the states themselves would allocate for every change in place.
struct HostTable {
  private var places: [Origin: Int] = [:]
  private var states: [HostAdmission] = []
  private var free: [Int] = []

  var count: Int { places.count }

  var origins: [Origin] { Array(places.keys) }

  /// The place of a host's state; nil where nothing is known of it.
  func place(of host: Origin) -> Int? { places[host] }

  /// The same; a new state where there was none.
  mutating func enter(_ host: Origin) -> Int {
    if let place = places[host] { return place }
    let place = free.popLast() ?? states.count
    if place == states.count { states.append(HostAdmission()) }
    places[host] = place
    return place
  }

  /// Forgets a host; its place is another's from then on.
  mutating func remove(_ host: Origin) {
    guard let place = places.removeValue(forKey: host) else { return }
    states[place] = HostAdmission()
    free.append(place)
  }

  subscript(_ place: Int) -> HostAdmission {
    get { states[place] }
    _modify { yield &states[place] }
  }

  subscript(_ host: Origin) -> HostAdmission? { places[host].map { states[$0] } }
}

/// A token bucket as one instant: the one at which it is full again (the "generic cell rate algorithm").
struct RateMeter {
  private var fullAt: Duration = .zero

  /// The time of the next token; now or earlier when there is one.
  func nextToken(_ limit: RateLimit) -> Duration {
    limit.isNone ? .zero : fullAt - limit.reserve
  }

  /// Takes a token, which must be there.
  mutating func take(at now: Duration, _ limit: RateLimit) {
    if !limit.isNone { fullAt = max(fullAt, now) + limit.interval }
  }

  /// Goes on with another limit: the tokens that are wanting are as many as before, and a whole burst at most. Without a limit
  /// none is.
  mutating func change(from old: RateLimit, to new: RateLimit, at now: Duration) {
    guard old != new else { return }
    guard !old.isNone, !new.isNone, fullAt > now else {
      fullAt = .zero
      return
    }
    let wanting = (fullAt - now) / old.interval
    fullAt = now + new.interval * min(wanting, Double(new.mostAtOnce))
  }

  /// True when nothing would be lost by forgetting it.
  func isFull(at now: Duration) -> Bool { fullAt <= now }
}
