/// Who runs and who waits for one host: its part of an ``Admission``.
struct HostAdmission {
  var running = 0
  var meter = RateMeter()
  /// When the host was promised to be looked at again, for want of a token until then.
  var wakesAt: Duration?
  /// A line for each priority; none until somebody waits.
  private var lines: [WaitingLine] = []
  /// For each priority the ticket by which the host stands among those that could start somebody.
  private var announced: [Admission.Ticket?] = []
  private(set) var waiting = 0

  mutating func start(at now: Duration, _ rate: RateLimit) {
    running += 1
    meter.take(at: now, rate)
  }

  mutating func append(_ ticket: Admission.Ticket, _ priority: CallPriority, since: Duration) {
    if lines.isEmpty {
      lines = Array(repeating: WaitingLine(), count: CallPriority.allCases.count)
      announced = Array(repeating: nil, count: lines.count)
    }
    lines[priority.rawValue].append(ticket, since: since)
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
