import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.balancedEvents, .timeLimit(.minutes(1)))
struct CancellationTests {
  @Test func `1,000 randomly cancelled calls leave nothing behind`() async throws {
    let shop = try Shop()
    shop.mock.route(.get, "/slow/:id") { .text($0.parameters["id"] ?? "").bodyAfter(.milliseconds(5)) }
    let recorder = EventRecorder()
    await shop.server.update { $0.observers = [recorder] }
    var random = SeededGenerator(seed: 7)
    var calls: [(task: Task<Data, any Error>, isCancelled: Bool)] = []
    for id in 0..<1000 {
      let call = Task { try await PlainTask(path: "slow/\(id)").on(shop.server).downloadData() }
      calls.append((call, false))
      await giveWay(Int.random(in: 0..<30, using: &random))
      let victim = Int.random(in: max(0, id - 20)...id, using: &random)
      calls[victim].task.cancel()
      calls[victim].isCancelled = true
    }
    for (id, call) in calls.enumerated() {
      switch await call.task.result {
      case .success(let data): #expect(data == Data("\(id)".utf8))
      case .failure(let error): #expect(error is CancellationError && call.isCancelled, "\(error)")
      }
    }
    #expect(await eventually { shop.isQuiet })
    #expect(recorder.problems == [])
    #expect(await eventually { shop.mock.openConnections <= 10 }, "a cancelled transfer kept its connection open")
    let results = try await shop.server.manager.withResults(of: (0..<1000).map { GetWidget(id: $0).on(shop.server) }) {
      try await $0.reduce(into: 0) { try $0 += $1.result.get().name.isEmpty ? 0 : 1 }
    }
    #expect(results == 1000)
  }

  @Test func `cancelAll ends every call, and the next call succeeds`() async throws {
    let shop = try Shop()
    shop.mock.route("/hang", answer: .hang)
    let calls = (0..<30).map { _ in Task { try await PlainTask(path: "hang").on(shop.server).run() } }
    #expect(await eventually { shop.mock.openConnections == 10 && shop.server.manager.waitingCount == 20 })
    #expect(await shop.server.manager.cancelAll() == 30)
    for call in calls { await #expect(throws: CancellationError.self) { try await call.value } }
    try await shop.mock.waitForOpenConnections(0)
    #expect(try await GetWidget().on(shop.server).download() == Widget())
    #expect(shop.isQuiet)
  }

  @Test func `a call cancelled during an upload releases its body`() async throws {
    let shop = try Shop()
    let ended = AsyncStream<Void>.makeStream()
    // The body ends only when it is released.
    let body = HTTPBody.stream {
      AsyncThrowingStream<Data, any Error> { continuation in
        continuation.yield(Data(count: 1000))
        continuation.onTermination = { _ in ended.continuation.finish() }
      }
    }
    let call = Task { try await URLTask(shop.url("echo/x"), body: body).on(shop.server).run() }
    #expect(await eventually { shop.mock.openConnections == 1 })
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    for await _ in ended.stream {}
    try await shop.mock.waitForOpenConnections(0)
  }

  @Test func `a released server finishes its awaited calls and closes its connections`()
    async throws
  {
    let mock = try MockServer()
    mock.route("/slow") { _ in .text("done").bodyAfter(.milliseconds(20)) }
    _ = Server(Remote(mock.url))  // the first server stays alive as the default
    func call() -> Task<Data, any Error> {
      let server = Server(Remote(mock.url))
      return Task { try await PlainTask(path: "slow").on(server).downloadData() }
    }
    let calls = (0..<20).map { _ in call() }
    for call in calls { #expect(try await call.value == Data("done".utf8)) }
    try await mock.waitForOpenConnections(0)
  }

  @Test func `a body can be read after its transport is released`() async throws {
    let mock = try MockServer()
    mock.route("/slow") { _ in .data(Data(count: 1 << 20)).throttled(bytes: 100_000, every: .milliseconds(1)) }
    for _ in 0..<20 {
      let response = try await CurlTransport().send(HTTPRequest(.get, mock.url.appendingPathComponent("slow")))
      #expect(try await response.body.collect().count == 1 << 20)
    }
    try await mock.waitForOpenConnections(0)
  }
}
