import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct ResultsTests {
  /// Creates a server that tracks how many requests run concurrently.
  private func counting(_ peak: Shared<(now: Int, most: Int)>) -> Server {
    let transport = StubTransport { request in
      peak.withLock { peak in
        peak.now += 1
        peak.most = max(peak.most, peak.now)
      }
      await giveWay(5)
      peak.withLock { $0.now -= 1 }
      try Task.checkCancellation()
      let id = request.url.lastPathComponent
      return id == "13" ? .status(404, for: request) : .json(#"{"id":\#(id),"name":""}"#, for: request)
    }
    return Server("https://shop.test", transport: transport, manager: TaskManager(limits: .unlimited))
  }

  @Test func `yields a result for every task and respects the limit`() async throws {
    let peak = Shared((now: 0, most: 0))
    let server = counting(peak)
    let ids = try await server.manager.withResults(of: (1...100).map { GetWidget(id: $0).on(server) }, limit: 8) {
      results in
      var ids: [Int] = []
      for await (task, result) in results {
        if let widget = try? result.get() {
          #expect(widget.id == task.id)
        } else {
          #expect(task.id == 13)
        }
        ids.append(task.id)
      }
      return ids
    }
    #expect(ids.sorted() == Array(1...100))
    #expect(peak.withLock { $0.most } <= 8)
    #expect(server.manager.callCount == 0)
  }

  @Test func `a result contains the declared task without modifiers`() async throws {
    let stub = StubServer(.widget)
    let tasks = [GetWidget(id: 7).on(stub.server).timeout(.seconds(5)), GetWidget(id: 8).on(stub.server)]
    var declared: [GetWidget] = []
    for await (task, _) in stub.server.manager.results(of: tasks, order: .submitted) { declared.append(task) }
    for try await (task, _) in stub.server.manager.results(of: AsyncStream(tasks), order: .submitted) {
      declared.append(task)
    }
    #expect(declared.map(\.id) == [7, 8, 7, 8])
  }

  @Test func `a server runs tasks on itself, regardless of the tasks' own servers`() async throws {
    let (own, other) = (StubServer(.widget), StubServer(.status(500)))
    let tasks = (1...3).map { GetWidget(id: $0).on(other.server).header("X", "\($0)") }
    for await (task, result) in own.server.results(of: tasks) { #expect(try result.get() == Widget(), "\(task.id)") }
    for try await (_, result) in own.server.results(of: AsyncStream(tasks)) { #expect(try result.get() == Widget()) }
    let count = try await own.server.withResults(of: tasks) { await $0.reduce(0) { count, _ in count + 1 } }
    let late = try await own.server.withResults(of: AsyncStream(tasks)) {
      try await $0.reduce(0) { count, _ in count + 1 }
    }
    #expect(count == 3 && late == 3)
    #expect(try await own.server.downloads(of: tasks).count == 3)
    #expect(try await own.server.downloads(of: AsyncStream(tasks)).count == 3)
    #expect(own.requests.count == 18 && other.requests.isEmpty)
    #expect(
      Set(own.requests.compactMap { $0.headers["X"] }) == ["1", "2", "3"], "the tasks keep their other modifiers")
  }

  @Test func `leaving the loop cancels running tasks before it returns`() async throws {
    let peak = Shared((now: 0, most: 0))
    let server = counting(peak)
    try await server.manager.withResults(of: (1...1000).map { GetWidget(id: $0).on(server) }, limit: 4) {
      for await _ in $0 { break }
    }
    #expect(server.manager.callCount == 0)
    #expect(peak.withLock { $0.now } == 0)
  }

  @Test func `treats a limit below one as one`() async throws {
    let peak = Shared((now: 0, most: 0))
    let server = counting(peak)
    var count = 0
    for await _ in server.manager.results(of: (1...5).map { GetWidget(id: $0).on(server) }, limit: -3) { count += 1 }
    #expect(count == 5)
    #expect(peak.withLock { $0.most } == 1)
  }

  @Test(arguments: zip([ResultOrder.finished, .submitted], [[3, 1, 2], [1, 2, 3]]))
  func `yields results in the order of completion or submission`(order: ResultOrder, expected: [Int]) async throws {
    let shop = GatedShop()
    let server = shop.server()
    let results = server.manager.results(of: shop.tasks(1...3, on: server), limit: 3, order: order)
    await shop.began.reached(3)
    for (count, id) in [3, 1, 2].enumerated() {
      shop.open(id)
      #expect(await eventually { results.progress.finished > count })
    }
    var ids: [Int] = []
    for await (task, result) in results {
      #expect(try result.get().id == task.id)
      ids.append(task.id)
    }
    #expect(ids == expected)
  }

  @Test(arguments: [ResultOrder.finished, .submitted])
  func `reads ahead by at most twice the limit`(order: ResultOrder) async throws {
    let shop = GatedShop()
    let server = shop.server()
    shop.open(1...1000)
    try await server.manager.withResults(of: shop.tasks(1...1000, on: server), limit: 4, order: order) { results in
      var reader = results.makeAsyncIterator()
      for read in 0..<20 {
        await shop.taken.reached(read + 8)
        await shop.settle()
        #expect(shop.taken.count == read + 8)
        #expect(await reader.next() != nil)
      }
    }
    #expect(shop.inside.withLock { $0.now } == 0)
  }

  @Test func `in submission order, no more tasks are read if a slow first task fills the window`() async throws {
    let shop = GatedShop()
    let server = shop.server()
    shop.open(2...100)
    let results = server.manager.results(of: shop.tasks(1...100, on: server), limit: 3, order: .submitted)
    await shop.ended.reached(5)
    #expect(await eventually { results.progress.running == 1 })
    await shop.settle()
    #expect(shop.taken.count == 6)
    shop.open(1)
    let ids = await results.reduce(into: []) { $0.append($1.task.id) }
    #expect(ids == Array(1...100))
    #expect(shop.inside.withLock { $0.most } <= 3)
  }

  @Test func `leaving the loop ends running tasks before it returns`() async throws {
    let shop = GatedShop()
    let server = shop.server()
    shop.open(1)
    try await server.manager.withResults(of: shop.tasks(1...1000, on: server), limit: 4) { results in
      for await _ in results { break }
      await shop.began.reached(5)  // the next task has replaced the first one and never receives a response
    }
    #expect(shop.inside.withLock { $0.now } == 0)
    #expect(shop.ended.count == shop.began.count && shop.began.count == 5)
    #expect(server.manager.callCount == 0)
  }

  @Test func `rethrows the reader's error after the running tasks have ended`() async throws {
    struct Enough: Error {}
    let shop = GatedShop()
    let server = shop.server()
    shop.open(1)
    await #expect(throws: Enough.self) {
      try await server.manager.withResults(of: shop.tasks(1...1000, on: server), limit: 4) {
        for await _ in $0 { throw Enough() }
      }
    }
    #expect(shop.inside.withLock { $0.now } == 0 && server.manager.callCount == 0)
  }

  @Test func `cancelling the reader cancels every running task and yields a result for each task`() async throws {
    let shop = GatedShop()
    let server = shop.server()
    let seen = Shared<[Bool]>([])
    let work = Task {
      try await server.manager.withResults(of: shop.tasks(1...1000, on: server), limit: 4) { results in
        for await (_, result) in results { seen.withLock { $0.append(result.isCancellation) } }
      }
    }
    await shop.began.reached(4)
    work.cancel()
    await #expect(throws: CancellationError.self) { try await work.value }
    #expect(seen.withLock { $0 } == [true, true, true, true])
    #expect(shop.taken.count == 4 && shop.inside.withLock { $0.now } == 0 && server.manager.callCount == 0)
  }

  @Test func `a cancelled loop still yields a result for every running task`() async throws {
    let shop = GatedShop()
    let server = shop.server()
    shop.open(1...2)
    let read = Counter()
    let work = Task {
      var results: [Bool] = []
      for await (_, result) in server.manager.results(of: shop.tasks(1...1000, on: server), limit: 4) {
        results.append(result.isCancellation)
        read.add()
      }
      return results
    }
    await read.reached(2)
    await shop.began.reached(6)
    work.cancel()
    let results = await work.value
    #expect(results.prefix(2) == [false, false] && results.dropFirst(2).allSatisfy(\.self) && results.count == 6)
    #expect(server.manager.callCount == 0)
  }

  private struct Tagged: ServerGETTask, PayloadDownloadingTask {
    typealias DownloadPayload = Widget
    let id: Int
    var path: String { "widgets/\(id)" }
    var taskTag: String { id == 1 ? "first" : "other" }
  }

  private static func tagged(on server: Server) -> some Sequence<Modified<Tagged>> & SendableMetatype {
    (1...100_000).lazy.map { Tagged(id: min($0, 100)).on(server) }
  }

  @Test func `cancelling a single task does not hide the cancellation of the batch`() async throws {
    let shop = GatedShop()
    let server = shop.server()
    shop.open(2...100)
    let (read, cut) = (Counter(), Counter())
    let work = Task {
      var results: [Bool] = []
      for await (_, result) in server.manager.results(of: Self.tagged(on: server), limit: 4) {
        results.append(result.isCancellation)
        guard read.count == 0, result.isCancellation else { continue }
        read.add()
        await cut.reached(1)
      }
      return results
    }
    await shop.began.reached(1)
    while await server.manager.cancel(tag: "first") == 0 { await Task.yield() }
    await read.reached(1)
    await shop.began.reached(5)  // this task replaces the one whose result was read, so the window is full again
    #expect(await eventually { server.manager.callCount == 0 })
    work.cancel()
    cut.add()
    let results = await work.value
    let own = try #require(results.firstIndex(of: true))
    #expect(
      results.count < 100_000 && results[(own + 1)...].contains(true),
      "the loop ended early and reported the cancellation")
  }

  @Test func `a batch cancelled while idle reports the cancellation with the next task`() async throws {
    let shop = GatedShop()
    let server = shop.server()
    shop.open(1...1000)
    let work = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      var results: [Bool] = []
      for await (_, result) in server.manager.results(of: shop.tasks(1...1000, on: server)) {
        results.append(result.isCancellation)
      }
      return results
    }
    #expect(await work.value.contains(true))
  }

  @Test func `cancelling after the last result has no effect`() async throws {
    let shop = GatedShop()
    let server = shop.server()
    shop.open(1...10)
    let work = Task {
      try await server.manager.withResults(of: shop.tasks(1...10, on: server)) { results in
        let count = await results.reduce(0) { count, _ in count + 1 }
        withUnsafeCurrentTask { $0?.cancel() }
        return count
      }
    }
    #expect(try await work.value == 10)
  }

  @Test func `cancelling while the reader returns does not hang`() async throws {
    let stub = StubServer(.widget)
    let tasks = (1...100).map { GetWidget(id: $0).on(stub.server) }
    let rounds = Counter()
    let all = Task {
      for round in 0..<300 {
        let hasRead = Shared(false)
        let work = Task {
          try await stub.server.manager.withResults(of: tasks, limit: 1) { results in
            var reader = results.makeAsyncIterator()
            _ = await reader.next()
            for _ in 0...round % 97 { hasRead.withLock { $0 = true } }
          }
        }
        Thread.detachNewThread {
          while !hasRead.withLock({ $0 }) {}
          work.cancel()
        }
        _ = await work.result
        rounds.add()
      }
    }
    #expect(await eventually(within: .seconds(60)) { rounds.count == 300 }, "\(rounds.count)")
    all.cancel()
  }

  @Test func `reads no more tasks after the results are discarded`() async throws {
    let shop = GatedShop()
    let server = shop.server()
    shop.open(1...1000)
    var results: TaskResults? = server.manager.results(of: shop.tasks(1...1000, on: server), limit: 4)
    #expect(await eventually { results?.progress.finished == 8 })
    results = nil
    await shop.settle()
    #expect(shop.taken.count == 8)
  }

  @Test func `cancels running tasks when the results are discarded`() async throws {
    let shop = GatedShop()
    let server = shop.server()
    shop.open(1)
    for await _ in server.manager.results(of: shop.tasks(1...1000, on: server), limit: 4) { break }
    #expect(await eventually { server.manager.callCount == 0 })
    #expect(shop.taken.count < 10)
  }

  @Test func `two readers share the results, and both readers end`() async throws {
    let shop = GatedShop()
    let server = shop.server()
    let results = server.manager.results(of: shop.tasks(1...200, on: server), limit: 4, order: .submitted)
    async let first = results.reduce(into: []) { $0.append($1.task.id) }
    async let second = results.reduce(into: []) { $0.append($1.task.id) }
    await shop.began.reached(4)
    shop.open((1...200).reversed())
    #expect(await (first + second).sorted() == Array(1...200))
  }

  @Test func `progress reports finished, running and failed tasks out of the total`() async throws {
    let shop = GatedShop()
    let server = shop.server(missing: [2])
    shop.open(1...3)
    let results = server.manager.results(of: (1...4).map { GetWidget(id: $0).on(server) }, limit: 4)
    await shop.ended.reached(3)
    #expect(await eventually { results.progress.finished >= 3 })
    #expect("\(results.progress)" == "3 of 4 finished, 1 under way, 1 failed")
    shop.open(4)
    for await _ in results {}
    #expect("\(results.progress)" == "4 of 4 finished, 1 failed")
  }
}

extension Result where Failure == any Error {
  fileprivate var isCancellation: Bool { if case .failure(is CancellationError) = self { true } else { false } }
}

extension AsyncStream where Element: Sendable {
  fileprivate init(_ elements: [Element]) {
    self.init { continuation in
      for element in elements { continuation.yield(element) }
      continuation.finish()
    }
  }
}
