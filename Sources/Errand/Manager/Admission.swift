/// Who may run and who waits: the bookkeeping of slots, pure. It starts nothing, waits for nothing, locks nothing.
///
/// A host's waiters are ordered by priority, then by arrival. A waiter whose host is full does not hold up those of
/// other hosts.
struct Admission {
  typealias Ticket = Int

  /// What the owner should do for somebody who asked.
  enum Decision: Equatable {
    case start
    case wait
  }

  private struct Waiter {
    let ticket: Ticket
    let priority: CallPriority
  }

  private struct Host {
    var running = 0
    var waiting: [Waiter] = []
  }

  private(set) var limits: ThrottleLimits
  private(set) var running = 0
  private(set) var waiting = 0
  private var hosts: [Origin: Host] = [:]

  init(limits: ThrottleLimits) { self.limits = limits }

  /// Somebody asks for a slot. Tickets must grow.
  mutating func enter(_ ticket: Ticket, host: Origin, priority: CallPriority) -> Decision {
    let isFree = hasRoomOverall && hasRoom(hosts[host])
    if isFree {
      hosts[host, default: Host()].running += 1
      running += 1
      return .start
    }
    let line = hosts[host, default: Host()].waiting
    let place = line.lastIndex { $0.priority >= priority }.map { $0 + 1 } ?? 0
    hosts[host, default: Host()].waiting.insert(Waiter(ticket: ticket, priority: priority), at: place)
    waiting += 1
    return .wait
  }

  /// A slot of `host` is free again; returns those who may start now.
  mutating func leave(host: Origin) -> [Ticket] {
    hosts[host]?.running -= 1
    running -= 1
    let started = admit()
    if let state = hosts[host], state.running == 0, state.waiting.isEmpty { hosts[host] = nil }
    return started
  }

  /// Somebody who waits gives up; false when they do not wait any more.
  mutating func abandon(_ ticket: Ticket, host: Origin) -> Bool {
    guard let index = hosts[host]?.waiting.firstIndex(where: { $0.ticket == ticket }) else { return false }
    hosts[host]?.waiting.remove(at: index)
    waiting -= 1
    if let state = hosts[host], state.running == 0, state.waiting.isEmpty { hosts[host] = nil }
    return true
  }

  /// Other limits hold from now on; returns those who may start because of it.
  mutating func setLimits(_ limits: ThrottleLimits) -> [Ticket] {
    self.limits = limits
    return admit()
  }

  /// How many run and wait, by host.
  var counts: [Origin: (running: Int, waiting: Int)] {
    hosts.mapValues { ($0.running, $0.waiting.count) }
  }

  private var hasRoomOverall: Bool { limits.total == 0 || running < limits.total }

  private func hasRoom(_ host: Host?) -> Bool {
    limits.perHost == 0 || (host?.running ?? 0) < limits.perHost
  }

  private mutating func admit() -> [Ticket] {
    guard waiting > 0 else { return [] }
    var started: [Ticket] = []
    while hasRoomOverall, let host = nextHost() {
      let waiter = hosts[host, default: Host()].waiting.removeFirst()
      hosts[host, default: Host()].running += 1
      waiting -= 1
      running += 1
      started.append(waiter.ticket)
    }
    return started
  }

  /// Of the hosts that have room, the one whose first waiter comes before the others'.
  private func nextHost() -> Origin? {
    var best: (host: Origin, waiter: Waiter)?
    for (host, state) in hosts where hasRoom(state) {
      guard let waiter = state.waiting.first else { continue }
      if let present = best?.waiter,
        (present.priority.rawValue, -present.ticket) > (waiter.priority.rawValue, -waiter.ticket)
      {
        continue
      }
      best = (host, waiter)
    }
    return best?.host
  }
}
