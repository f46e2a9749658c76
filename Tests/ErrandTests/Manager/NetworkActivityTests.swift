import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct NetworkActivityTests {
  @Test func `a reader receives the current count first, then the latest count`() async throws {
    let shop = GatedShop()
    let server = shop.server()
    var numbers = server.manager.activity.makeAsyncIterator()
    #expect(await numbers.next() == 0)
    let calls = (1...5).map { id in Task { try await GetWidget(id: id).on(server).download() } }
    await shop.began.reached(5)
    #expect(await numbers.next() == 5, "earlier counts are skipped")
    #expect(server.manager.activity.count == 5)
    shop.open(1...5)
    for call in calls { _ = try await call.value }
    #expect(await numbers.next() == 0)
  }

  @Test func `counts failed calls until they end and a stream until it is released`() async throws {
    let stub = StubServer(.status(404), .data(Data("abc".utf8), .plainText))
    let numbers = Shared<[Int]>([])
    let reader = Task {
      for await count in stub.server.manager.activity { numbers.withLock { $0.append(count) } }
    }
    #expect(await eventually { numbers.withLock { $0 } == [0] })
    _ = try? await GetWidget().on(stub.server).download()
    #expect(stub.server.manager.activity.count == 0)
    do {
      let response = try await PlainTask().on(stub.server).stream()
      #expect(await eventually { numbers.withLock { $0.last } == 1 })
      response.body.cancel()
    }
    #expect(await eventually { numbers.withLock { $0.last } == 0 })
    reader.cancel()
    await reader.value
  }

  @Test func `a call is not active while it waits for a slot or a retry`() async throws {
    let shop = VirtualShop(limits: ThrottleLimits(perHost: 1)) { number, request, clock in
      try await CallClock(clock).sleep(for: .seconds(5))
      return number == 1 ? .unavailable(request) : .ok(request)
    }
    let first = Task { try await shop.task().retry(upTo: 1, after: .seconds(7)).run() }
    await shop.clock.sleepers(count: 1)
    let second = Task { try await shop.task().run() }
    #expect(await eventually { shop.manager.waitingCount == 1 })
    #expect(shop.manager.activity.count == 1)
    second.cancel()
    _ = await second.result
    await shop.clock.pass(.seconds(5))
    #expect(await eventually { !shop.moments(containing: "503").isEmpty && shop.clock.sleeperCount == 1 })
    #expect(shop.manager.activity.count == 0 && shop.manager.callCount == 1)
    await shop.clock.pass(.seconds(7))
    #expect(await eventually { shop.manager.activity.count == 1 })
    await shop.clock.pass(.seconds(5))
    _ = try await first.value
    #expect(shop.manager.activity.count == 0)
  }

  @Test func `the overall activity includes all managers, even managers created later`() async throws {
    let registry = ActivityRegistry()
    let (one, other) = (GatedShop(), GatedShop())
    let (first, second) = (one.server(), other.server())
    registry.add(first.manager.calls)
    var numbers = NetworkActivity(registry).makeAsyncIterator()
    #expect(await numbers.next() == 0)
    registry.add(second.manager.calls)
    let calls = [first, second].map { server in Task { try await GetWidget(id: 1).on(server).download() } }
    await one.began.reached(1)
    await other.began.reached(1)
    #expect(await numbers.next() == 2)
    #expect(NetworkActivity.all.count >= 2)
    one.open(1)
    other.open(1)
    for call in calls { _ = try await call.value }
    #expect(await numbers.next() == 0)
  }
}

@Suite(.timeLimit(.minutes(1))) struct GaugeReadingsTests {
  @Test func `gauges are read at the given interval and reported only when they change`() async throws {
    let gate = Gate()
    let shop = VirtualShop(limits: ThrottleLimits(perHost: 1)) { _, request, _ in
      await gate.wait()
      return .ok(request)
    }
    let seen = Shared<[[Int]]>([])
    let reader = Task {
      for await gauges in shop.server.gauges(every: .seconds(1)) {
        seen.withLock { $0.append([gauges.calls, gauges.running, gauges.waiting]) }
      }
    }
    #expect(await eventually { seen.withLock { $0 } == [[0, 0, 0]] })
    let calls = (1...2).map { _ in Task { try await shop.task().run() } }
    #expect(await eventually { shop.manager.waitingCount == 1 })
    await shop.clock.pass(.seconds(1))
    #expect(await eventually { seen.withLock { $0 } == [[0, 0, 0], [2, 1, 1]] })
    await shop.clock.pass(.seconds(1))
    let gauges = await shop.server.gauges()
    #expect(gauges.hosts.map { "\($0.key) \($0.value.running) \($0.value.waiting)" } == ["https://shop.test:443 1 1"])
    gate.open()
    for call in calls { _ = try await call.value }
    await shop.clock.pass(.seconds(1))
    #expect(await eventually { seen.withLock { $0.last } == [0, 0, 0] })
    #expect(seen.withLock { $0.count } == 3)
    reader.cancel()
    await reader.value
  }

  @Test func `reading the gauges does not retain the server and ends when the server is released`() async {
    let keeper = Server(.none, environment: [:])  // otherwise the next server could become the default server
    func readings() -> GaugeReadings { Server(.none, environment: [:]).gauges(every: .seconds(1)) }
    var iterator = readings().makeAsyncIterator()
    #expect(await iterator.next() == nil)
    withExtendedLifetime(keeper) {}
  }
}
