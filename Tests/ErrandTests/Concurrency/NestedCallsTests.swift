import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Calls whose hooks make random calls on queues, through handles and batches, and with tokens and shared requests.
/// Every call must end, so a wait that would never end must be refused.
@Suite(.timeLimit(.minutes(1))) struct NestedCallsTests {
  private struct Nested: PayloadDownloadingTask {
    typealias DownloadPayload = Data
    let world: World
    let server: Server
    let depth: Int
    let path: String
    let serialQueue: SerialQueue
    let authentication: Authentication

    init(_ world: World, on server: Server, depth: Int) {
      (self.world, self.server, self.depth) = (world, server, depth)
      path = "\(depth)/\(world.draw(4))"
      serialQueue = world.queue()
      authentication = world.draw(3) == 0 ? .none : .inherited
    }

    func preflight(_ request: inout HTTPRequest) async throws { if world.draw(4) == 0 { await callMore() } }
    func postflight(response: HTTPResponse) async throws { await callMore() }

    private func next() -> Nested { Nested(world, on: server, depth: depth - 1) }

    private func callMore() async {
      guard depth > 0 else { return }
      switch world.draw(6) {
      case 0: _ = try? await next().send()
      case 1: _ = try? await server.manager.start(next()).value
      case 2: world.handles.withLock { $0.append(server.manager.start(next())) }
      case 3: for await _ in server.manager.start(next()).events {}
      case 4: _ = try? await server.downloads(of: [next(), next()])
      default:
        async let one = try? next().send()
        async let two = try? next().send()
        _ = await (one, two)
      }
    }
  }

  /// The random choices, and the handles that have not been awaited.
  private final class World: Sendable {
    let handles = Shared<[TaskHandle<Data>]>([])
    private let random: Shared<SeededGenerator>

    init(seed: UInt64) { random = Shared(SeededGenerator(seed: seed)) }

    func draw(_ count: Int) -> Int { random.withLock { Int.random(in: 0..<count, using: &$0) } }
    func queue() -> SerialQueue { [.none, .named("a"), .named("b"), .named("c")][draw(4)] }
  }

  @Test(arguments: 1...6, [false, true]) func `every nested call ends`(seed: UInt64, coalesces: Bool) async throws {
    let world = World(seed: seed)
    let place = Shared<Server?>(nil)
    let stub = StubTransport { request in
      await giveWay(world.draw(20))
      if world.draw(5) == 0 { return .status(.unauthorized, for: request) }
      return .text("fine", for: request)
    }
    let server = Server(
      "https://shop.test", transport: stub,
      manager: TaskManager(limits: ThrottleLimits(perHost: 2), retryBudget: .unlimited), asDefault: false
    ) {
      $0.log = .discard
      $0.retryPolicy = .never
      $0.coalescesRequests = coalesces
      $0.authentication = .bearer {
        guard let server = place.withLock({ $0 }) else { return "none" }
        return try await PlainTask(path: "token").on(server).authenticated(.none).serialQueue(world.queue()).data()
          .base64EncodedString()
      }
    }
    place.withLock { $0 = server }
    let ended = await finishes(within: .seconds(60)) {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<60 { group.addTask { _ = try? await Nested(world, on: server, depth: 2).send() } }
      }
      for handle in world.handles.withLock({ $0 }) { _ = try? await handle.value }
    }
    #expect(ended, "\(server.manager.callCount) calls wait forever")
    await server.manager.cancelAll()
    #expect(await eventually { server.manager.callCount == 0 && server.manager.runningCount == 0 })
    place.withLock { $0 = nil }
  }
}
