/// Which serial queues wait for which others, because a call that holds one waits for another. It has no side effects.
struct WaitGraph {
  /// For each held queue, the queues that its holder waits for, with the number of waits. A holder may make several
  /// calls at once.
  private var waits: [String: [String: Int]] = [:]

  mutating func add(_ held: [String], waitingFor name: String) {
    for queue in held { waits[queue, default: [:]][name, default: 0] += 1 }
  }

  mutating func remove(_ held: [String], waitingFor name: String) {
    for queue in held {
      guard let count = waits[queue]?[name] else { continue }
      waits[queue]?[name] = count > 1 ? count - 1 : nil
      if waits[queue]?.isEmpty == true { waits[queue] = nil }
    }
  }

  /// Whether the holder of `queue` waits, directly or through other queues, for `target`.
  func waits(_ queue: String, for target: String) -> Bool {
    var (next, seen) = ([queue], Set([queue]))
    while let queue = next.popLast() {
      for name in waits[queue, default: [:]].keys {
        if name == target { return true }
        if seen.insert(name).inserted { next.append(name) }
      }
    }
    return false
  }
}
