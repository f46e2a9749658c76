/// Something that Swift tasks wait for, such as a serial queue, a token refresh, a shared request or a handle's call, or
/// the work that they wait for.
///
/// Every wait of one call for another goes through ``beginWait()``, which refuses a wait that would never end.
final class WaitNode: Sendable {
  /// A wait of the current task. ``end()`` must be called once.
  struct Wait: Sendable {
    fileprivate let nodes: [WaitGraph.Node]
    fileprivate let target: WaitGraph.Node

    func end() {
      if !nodes.isEmpty { WaitNode.graph.withLock { $0.remove(nodes, waitingFor: target) } }
    }
  }

  private static let graph = Lock(WaitGraph())
  private static let lastID = Lock(0)

  /// The work that the current task belongs to, outermost first.
  @TaskLocal private static var working: [WaitNode] = []

  let id: WaitGraph.Node
  private let isOver = Flag()

  init() {
    id = Self.lastID.withLock { id in
      id += 1
      return id
    }
  }

  /// The work that the current task belongs to. Swift tasks can outlive the work that started them, so work that has
  /// ended is left out.
  static var current: [WaitNode] { working.isEmpty ? [] : working.filter { !$0.isOver.hasEnded } }

  /// Runs `body`, which starts a Swift task that the current work does not wait for.
  static func leaving<Result>(_ body: () -> Result) -> Result {
    working.isEmpty ? body() : $working.withValue([], operation: body)
  }

  /// Runs `body` as this node's work, within the current work, which waits for it.
  func work<Result>(_ body: () async throws -> Result) async rethrows -> Result {
    defer { end() }
    return try await Self.$working.withValue(Self.current + [self], operation: body)
  }

  /// Runs `body` as this node's work, in a Swift task that belongs to no other work.
  func workAlone<Result>(_ body: () async throws -> Result) async rethrows -> Result {
    defer { end() }
    return try await Self.$working.withValue([self], operation: body)
  }

  private func end() {
    isOver.end()
    Self.graph.withLock { $0.end(id) }
  }

  /// Records that this node ends only after `work`, so a wait for the node is also a wait for `work`.
  func wait(for work: WaitNode) { Self.graph.withLock { $0.add([id], waitingFor: work.id) } }

  func stopWaiting(for work: WaitNode) { Self.graph.withLock { $0.remove([id], waitingFor: work.id) } }

  /// Records that the work, by default that of the current task, waits for this node. Returns `nil` if it would wait
  /// forever, because this node waits for that work.
  func beginWait(of work: [WaitNode] = WaitNode.current) -> Wait? {
    let nodes = work.map(\.id)
    let wait = Wait(nodes: nodes, target: id)
    if nodes.isEmpty { return wait }
    return Self.graph.withLock { graph in
      guard !graph.reaches(id, nodes) else { return nil }
      graph.add(nodes, waitingFor: id)
      return wait
    }
  }
}
