import Errand
import ErrandTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct AsyncResultsTests {
  private struct Torn: Error {}

  /// Returns tasks with these IDs, followed by an error. `torn` counts the errors.
  private func tasks(_ ids: ClosedRange<Int>, on server: Server, torn: Counter = Counter())
    -> AsyncThrowingStream<Modified<GetWidget>, any Error>
  {
    let next = Shared(ids.lowerBound)
    return AsyncThrowingStream {
      let id = next.withLock { next in
        defer { next += 1 }
        return next
      }
      guard id <= ids.upperBound else {
        torn.add()
        throw Torn()
      }
      return GetWidget(id: id).on(server)
    }
  }

  @Test func `accepts tasks that arrive over time`() async throws {
    let shop = GatedShop()
    let server = shop.server()
    shop.open(1...3)
    let (tasks, source) = AsyncStream<Modified<GetWidget>>.makeStream()
    let results = server.manager.results(of: tasks, limit: 2, order: .submitted)
    var reader = results.makeAsyncIterator()
    for id in 1...3 {
      source.yield(GetWidget(id: id).on(server))
      #expect(try await reader.next()?.result.get().id == id)
    }
    #expect(results.progress.total == nil)
    source.finish()
    #expect(try await reader.next() == nil)
    #expect("\(results.progress)" == "3 of 3 finished")
  }

  @Test func `reads ahead in the source by at most twice the limit`() async throws {
    let shop = GatedShop()
    let server = shop.server()
    shop.open(1...1000)
    let (taken, next) = (shop.taken, Shared(0))
    let tasks = AsyncStream<Modified<GetWidget>> {
      taken.add()
      return next.withLock { next in
        next += 1
        return GetWidget(id: next).on(server)
      }
    }
    try await server.manager.withResults(of: tasks, limit: 4) { results in
      var reader = results.makeAsyncIterator()
      for read in 0..<20 {
        await taken.reached(read + 8)
        await shop.settle()
        #expect(taken.count == read + 8)
        let element = try await reader.next()
        #expect(element != nil)
      }
    }
    #expect(shop.inside.withLock { $0.now } == 0 && server.manager.callCount == 0)
  }

  @Test func `throws the source's error after the running tasks have finished`() async throws {
    let shop = GatedShop()
    let server = shop.server()
    let torn = Counter()
    let seen = Shared<[Int]>([])
    let work = Task {
      try await server.manager.withResults(of: tasks(1...3, on: server, torn: torn), limit: 5) { results in
        for try await (task, result) in results {
          _ = try result.get()
          seen.withLock { $0.append(task.id) }
        }
      }
    }
    await torn.reached(1)
    await shop.settle()
    #expect(
      seen.withLock { $0 } == [] && shop.ended.count == 0,
      "while a task is running, the error is not thrown and no task is cancelled")
    shop.open(1...3)
    await #expect(throws: Torn.self) { try await work.value }
    #expect(seen.withLock { $0.sorted() } == [1, 2, 3])
  }

  @Test func `leaving the loop returns immediately even if the source is idle`() async throws {
    let shop = GatedShop()
    let server = shop.server()
    shop.open(1)
    let (tasks, source) = AsyncStream<Modified<GetWidget>>.makeStream()
    source.yield(GetWidget(id: 1).on(server))
    try await server.manager.withResults(of: tasks, limit: 4) { results in
      for try await _ in results { break }
    }
    #expect(server.manager.callCount == 0)
    withExtendedLifetime(source) {}
  }
}
