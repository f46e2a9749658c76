/// The state of slots, running calls and waiters. This type is pure: it never starts tasks, waits or locks.
///
/// Waiters are ordered by priority, then by arrival. A waiter's priority rises by one level every
/// ``ThrottleLimits/priorityAging``. Waiters for a host that is full or has reached its rate limit do not block waiters
/// for other hosts.
///
/// The cost of admitting a waiter does not depend on the length of the queue. A host that could start a call appears in
/// `ready` once for the first waiter at each priority. A host that only needs a token is in `starved`. Outdated entries
/// are skipped when they are reached.
struct Admission {
  typealias Ticket = Int

  enum Decision: Equatable {
    case start
    case wait
    /// The call must not wait, or the queue is full (``ThrottleLimits/maximumWaiting``).
    case refuse
  }

  private struct Ready: Comparable {
    let ticket: Ticket
    let host: Origin

    static func < (left: Ready, right: Ready) -> Bool { left.ticket < right.ticket }
  }

  private struct Starved: Comparable {
    let time: Duration
    let host: Origin

    static func < (left: Starved, right: Starved) -> Bool { left.time < right.time }
  }

  private(set) var limits: ThrottleLimits
  private(set) var running = 0
  private(set) var waiting = 0
  private var hosts = HostTable()
  private var ready = Array(repeating: MinHeap<Ready>(), count: CallPriority.allCases.count)
  private var starved = MinHeap<Starved>()
  private var threshold = CleanupThreshold()

  init(limits: ThrottleLimits) { self.limits = limits }

  /// Requests a slot for `host`. If the call has to wait, the ticket is its place in the queue. Every ticket must be
  /// greater than the previous one.
  mutating func enter(
    _ ticket: Ticket, host: Origin, priority: CallPriority, mayWait: Bool = true, at now: Duration = .zero
  ) -> Decision {
    // Mutate in place: copying a host's queues is O(n).
    let index = hosts.enter(host)
    if hasRoomOverall, hosts[index].waiting == 0, canStart(hosts[index], at: now) {
      hosts[index].start(at: now, limits.rate)
      running += 1
      return .start
    }
    defer { settle(host, index, at: now) }
    if !mayWait || (limits.maximumWaiting > 0 && waiting >= limits.maximumWaiting) { return .refuse }
    hosts[index].append(ticket, priority.rawValue, since: now)
    waiting += 1
    return .wait
  }

  /// Whether a call to `host` would start without waiting.
  func hasRoom(at host: Origin, _ now: Duration) -> Bool {
    guard hasRoomOverall, let known = hosts[host] else { return hasRoomOverall }
    return known.waiting == 0 && canStart(known, at: now)
  }

  /// Frees a slot at `host` and returns the waiters that may start.
  mutating func leave(host: Origin, at now: Duration = .zero) -> [Ticket] {
    running -= 1
    if let index = hosts.index(of: host) {
      hosts[index].running -= 1
      settle(host, index, at: now)
    }
    return waiting > 0 ? admit(at: now) : []
  }

  /// Removes a waiter that gives up. Returns `false` if it is no longer waiting.
  mutating func abandon(_ ticket: Ticket, host: Origin, at now: Duration = .zero) -> Bool {
    guard let index = hosts.index(of: host), hosts[index].remove(ticket) else { return false }
    waiting -= 1
    settle(host, index, at: now)
    return true
  }

  /// Replaces the limits and returns the waiters that may start.
  mutating func setLimits(_ limits: ThrottleLimits, at now: Duration = .zero) -> [Ticket] {
    let old = self.limits.rate
    self.limits = limits
    starved = MinHeap()
    for host in hosts.origins {
      if let index = hosts.index(of: host) { hosts[index].meter.change(from: old, to: limits.rate, at: now) }
      rouse(host, at: now)
    }
    return admit(at: now)
  }

  /// Checks the hosts that have received a token by now and returns the waiters that may start.
  mutating func wake(at now: Duration) -> [Ticket] {
    while let first = starved.first, first.time <= now {
      starved.removeFirst()
      rouse(first.host, at: now)
    }
    return admit(at: now)
  }

  /// The next time a host gets a token and can start a call.
  var nextWake: Duration? { starved.first?.time }

  var hostCount: Int { hosts.count }

  var counts: [Origin: ThrottleSnapshot.Host] {
    var counts: [Origin: ThrottleSnapshot.Host] = [:]
    for origin in hosts.origins {
      guard let host = hosts[origin], host.running + host.waiting > 0 else { continue }
      counts[origin] = ThrottleSnapshot.Host(running: host.running, waiting: host.waiting)
    }
    return counts
  }

  private var hasRoomOverall: Bool { limits.total == 0 || running < limits.total }

  private func hasRoom(_ host: HostAdmission) -> Bool { limits.perHost == 0 || host.running < limits.perHost }

  private func canStart(_ host: HostAdmission, at now: Duration) -> Bool {
    hasRoom(host) && host.meter.nextToken(limits.rate) <= now
  }
}

// MARK: The order of waiters

extension Admission {
  /// Updates `ready` and `starved` after a change to a host.
  private mutating func settle(_ host: Origin, _ index: Int, at now: Duration) {
    if hosts[index].waiting == 0 {
      return hosts[index].running == 0 ? sweep(at: now) : ()
    }
    guard hasRoom(hosts[index]) else { return }  // settled when the next call leaves
    let token = hosts[index].meter.nextToken(limits.rate)
    if token <= now {
      for (ticket, level) in hosts[index].announce() { ready[level].insert(Ready(ticket: ticket, host: host)) }
    } else if hosts[index].wakesAt == nil {
      hosts[index].wakesAt = token
      starved.insert(Starved(time: token, host: host))
    }
  }

  /// Checks a host that has left `starved`.
  private mutating func rouse(_ host: Origin, at now: Duration) {
    guard let index = hosts.index(of: host) else { return }
    hosts[index].wakesAt = nil
    settle(host, index, at: now)
  }

  private mutating func admit(at now: Duration) -> [Ticket] {
    var started: [Ticket] = []
    while waiting > 0, hasRoomOverall, let (entry, level) = best(at: now) {
      ready[level].removeFirst()
      let index = hosts.enter(entry.host)
      hosts[index].removeFirst(level)
      hosts[index].start(at: now, limits.rate)
      waiting -= 1
      running += 1
      started.append(entry.ticket)
      settle(entry.host, index, at: now)
    }
    return started
  }

  /// Returns the waiter that may start next: the one with the highest current priority or, within a priority, the
  /// oldest.
  private mutating func best(at now: Duration) -> (Ready, level: Int)? {
    var best: (entry: Ready, level: Int, rank: Int)?
    for level in ready.indices {
      // Within a priority, the oldest waiter has also aged the most.
      guard let (entry, waiter) = first(level, at: now) else { continue }
      let rank = rank(level, of: waiter, at: now)
      if let best, (best.rank, -best.entry.ticket) > (rank, -entry.ticket) { continue }
      best = (entry, level, rank)
    }
    return best.map { ($0.entry, $0.level) }
  }

  /// Returns the first waiter at a priority level that can start. Removes the entries before it, which can't start.
  private mutating func first(_ level: Int, at now: Duration) -> (Ready, WaitingLine.Waiter)? {
    while let entry = ready[level].first {
      if let index = hosts.index(of: entry.host), let waiter = hosts[index].candidate(entry.ticket, level) {
        if canStart(hosts[index], at: now) { return (entry, waiter) }
        hosts[index].withdraw(level)
        ready[level].removeFirst()
        settle(entry.host, index, at: now)
      } else {
        ready[level].removeFirst()
      }
    }
    return nil
  }

  private func rank(_ level: Int, of waiter: WaitingLine.Waiter, at now: Duration) -> Int {
    guard limits.priorityAging > .zero else { return level }
    let highest = CallPriority.allCases.count - 1
    let gained = (now - waiter.since) / limits.priorityAging
    return gained >= Double(highest) ? highest : min(highest, level + Int(gained))
  }

  /// Occasionally removes hosts that no longer have any state.
  private mutating func sweep(at now: Duration) {
    guard threshold.isExceeded(by: hosts.count) else { return }
    for origin in hosts.origins {
      guard let host = hosts[origin], host.running == 0, host.waiting == 0, host.meter.isFull(at: now) else { continue }
      hosts.remove(origin)
    }
    threshold.swept(leaving: hosts.count)
  }
}
