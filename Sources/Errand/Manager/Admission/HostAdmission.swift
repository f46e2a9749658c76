/// The running and waiting calls of one host, managed by ``Admission``.
struct HostAdmission {
  var running = 0
  var meter = RateMeter()
  /// The time at which the host is checked again. The host has no token until then.
  var wakesAt: Duration?
  /// The queue for each priority. Empty until a call has to wait.
  private var lines: [WaitingLine] = []
  /// For each priority, the ticket of the waiter for which the host was last announced as ready.
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

  /// Returns the first waiter in a queue if it is still the announced one.
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

  /// Returns the first waiters that have not been announced yet and marks them as announced.
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

/// The state of every known host. A host is looked up by origin once, and by index from then on. A dictionary of states
/// would allocate on every in-place change.
struct HostTable {
  private var indices: [Origin: Int] = [:]
  private var states: [HostAdmission] = []
  private var free: [Int] = []

  var count: Int { indices.count }

  var origins: [Origin] { Array(indices.keys) }

  func index(of host: Origin) -> Int? { indices[host] }

  /// Returns the index of a host's state. Creates the state if needed.
  mutating func enter(_ host: Origin) -> Int {
    if let index = indices[host] { return index }
    let index = free.popLast() ?? states.count
    if index == states.count { states.append(HostAdmission()) }
    indices[host] = index
    return index
  }

  /// Removes a host. Its index may be reused.
  mutating func remove(_ host: Origin) {
    guard let index = indices.removeValue(forKey: host) else { return }
    states[index] = HostAdmission()
    free.append(index)
  }

  subscript(_ index: Int) -> HostAdmission {
    get { states[index] }
    _modify { yield &states[index] }
  }

  subscript(_ host: Origin) -> HostAdmission? { indices[host].map { states[$0] } }
}

/// A token bucket, stored as the time at which it will be full again (the "generic cell rate algorithm").
struct RateMeter {
  private var fullAt: Duration = .zero

  /// Returns the time at which the next token is available. The time is not in the future if one is available now.
  func nextToken(_ limit: RateLimit) -> Duration {
    limit.isNone ? .zero : fullAt - limit.reserve
  }

  /// Takes a token, which must be available.
  mutating func take(at now: Duration, _ limit: RateLimit) {
    if !limit.isNone { fullAt = max(fullAt, now) + limit.interval }
  }

  /// Switches to another limit. Keeps the number of missing tokens, up to one burst. If either limit is off, no tokens
  /// are missing.
  mutating func change(from old: RateLimit, to new: RateLimit, at now: Duration) {
    guard old != new else { return }
    guard !old.isNone, !new.isNone, fullAt > now else {
      fullAt = .zero
      return
    }
    let wanting = (fullAt - now) / old.interval
    fullAt = now + new.interval * min(wanting, Double(new.mostAtOnce))
  }

  /// Whether the meter is in its initial state and can be removed.
  func isFull(at now: Duration) -> Bool { fullAt <= now }
}
