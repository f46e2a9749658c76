/// Records which nodes wait for which other nodes. It has no side effects.
struct WaitGraph {
  typealias Node = Int

  /// For each node, the nodes that it waits for, with the number of waits. A node may wait several times at once.
  private var waits: [Node: [Node: Int]] = [:]

  mutating func add(_ nodes: [Node], waitingFor target: Node) {
    for node in nodes { waits[node, default: [:]][target, default: 0] += 1 }
  }

  mutating func remove(_ nodes: [Node], waitingFor target: Node) {
    for node in nodes {
      guard let count = waits[node]?[target] else { continue }
      waits[node]?[target] = count > 1 ? count - 1 : nil
      if waits[node]?.isEmpty == true { waits[node] = nil }
    }
  }

  /// Removes all waits of a node that has ended.
  mutating func end(_ node: Node) { waits[node] = nil }

  /// Whether `node` is in `targets` or waits for a node in `targets`, directly or through other nodes.
  func reaches(_ node: Node, _ targets: [Node]) -> Bool {
    var (next, seen) = ([node], Set([node]))
    while let node = next.popLast() {
      if targets.contains(node) { return true }
      for other in waits[node, default: [:]].keys where seen.insert(other).inserted { next.append(other) }
    }
    return false
  }

  var isEmpty: Bool { waits.isEmpty }
}
