import Errand

/// The faults of a transport's or a server's requests. Counts the requests for each method and path.
struct ChaosSequence: Sendable {
  private struct Key: Hashable {
    let method: HTTPMethod
    let path: String
  }

  private let chaos: Chaos
  private var counts: [Key: Int] = [:]

  init(_ chaos: Chaos) { self.chaos = chaos }

  /// Returns the fault of the next request with this method and path.
  mutating func next(_ method: HTTPMethod, _ path: String) -> Chaos.Fault? {
    let path = path.isEmpty ? "/" : path
    let occurrence = counts[Key(method: method, path: path), default: 0] + 1
    counts[Key(method: method, path: path)] = occurrence
    return chaos.fault(method, path, occurrence: occurrence)
  }
}
