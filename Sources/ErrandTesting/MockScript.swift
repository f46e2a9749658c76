import Errand

/// A server's configured answers: first the queued answers, then the routes. Chaos replaces or changes some of them.
struct MockScript: Sendable {
  private var queue: [MockAnswer] = []
  private var routes: [MockRoute] = []
  private var faults: ChaosSequence?

  init(_ chaos: Chaos? = nil) { faults = chaos.map { ChaosSequence($0) } }

  mutating func enqueue(_ answer: MockAnswer) { queue.append(answer) }

  /// Adds a route, which takes precedence over existing ones.
  mutating func add(_ route: MockRoute) { routes.append(route) }

  mutating func removeAll() { self = MockScript() }

  mutating func dequeue() -> MockAnswer? { queue.isEmpty ? nil : queue.removeFirst() }

  mutating func source(for request: MockRequest) -> (MockRoute.Source, parameters: [String: String]) {
    guard let fault = faults?.next(request.method, String(request.rawPath)) else { return configured(request) }
    if let answer = fault.replacement { return (.answer(answer), [:]) }
    let (source, parameters) = configured(request)
    return (source.with(fault), parameters)
  }

  private mutating func configured(_ request: MockRequest) -> (MockRoute.Source, parameters: [String: String]) {
    if let answer = dequeue() { return (.answer(answer), [:]) }
    let segments = request.segments
    for route in routes.reversed() {
      if let parameters = route.match(request.method, segments) { return (route.source, parameters) }
    }
    return (.answer(unknown(request)), [:])
  }

  private func unknown(_ request: MockRequest) -> MockAnswer {
    let known = routes.isEmpty ? ["none"] : routes.map(\.description)
    let list = known.joined(separator: ", ")
    return .text("No route for \(request.method) \(request.path). Known routes: \(list).", status: .notFound)
  }
}
