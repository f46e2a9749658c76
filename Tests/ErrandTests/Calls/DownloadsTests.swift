import Errand
import ErrandTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct DownloadsTests {
  private struct Torn: Error {}

  @Test func `returns payloads in the order of the tasks`() async throws {
    let shop = GatedShop()
    let server = shop.server()
    let work = Task { try await server.manager.downloads(of: shop.tasks(1...4, on: server), limit: 4) }
    await shop.began.reached(4)
    for (count, id) in (1...4).reversed().enumerated() {
      shop.open(id)
      await shop.ended.reached(count + 1)
    }
    #expect(try await work.value.map(\.id) == [1, 2, 3, 4])
  }

  @Test func `throws the first failure after the other tasks have been cancelled and have ended`() async throws {
    let shop = GatedShop()
    let server = shop.server(missing: [3])
    shop.open(1, 3)
    let error = await #expect(throws: TaskError.self) {
      try await server.manager.downloads(of: shop.tasks(1...1000, on: server), limit: 4)
    }
    #expect(error?.status == 404)
    #expect(shop.inside.withLock { $0.now } == 0 && server.manager.callCount == 0)
    #expect(shop.taken.count < 12)
  }

  @Test func `throws the first failure even if an asynchronous source is idle`() async throws {
    let shop = GatedShop()
    let server = shop.server(missing: [2])
    shop.open(2)
    let (tasks, source) = AsyncStream<Modified<GetWidget>>.makeStream()
    for id in 1...2 { source.yield(GetWidget(id: id).on(server)) }
    let error = await #expect(throws: TaskError.self) { try await server.manager.downloads(of: tasks) }
    #expect(error?.status == 404 && server.manager.callCount == 0)
    withExtendedLifetime(source) {}
  }

  @Test func `throws the error of a failing source`() async throws {
    let shop = GatedShop()
    let server = shop.server()
    let tasks = AsyncThrowingStream<Modified<GetWidget>, any Error> { source in
      source.yield(GetWidget(id: 1).on(server))
      source.finish(throwing: Torn())
    }
    await #expect(throws: Torn.self) { try await server.manager.downloads(of: tasks) }
    #expect(shop.inside.withLock { $0.now } == 0 && server.manager.callCount == 0)
  }

  @Test func `cancelling throws CancellationError instead of returning partial payloads`() async throws {
    let shop = GatedShop()
    let server = shop.server()
    shop.open(1)
    let work = Task { try await server.manager.downloads(of: shop.tasks(1...100, on: server), limit: 2) }
    await shop.began.reached(3)
    work.cancel()
    await #expect(throws: CancellationError.self) { try await work.value }
    let early = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await server.manager.downloads(of: [] as [GetWidget])
    }
    await #expect(throws: CancellationError.self) { try await early.value }
    #expect(server.manager.callCount == 0)
  }

  @Test func `returns an empty array for no tasks`() async throws {
    #expect(try await TaskManager().downloads(of: [] as [GetWidget]) == [])
  }
}
