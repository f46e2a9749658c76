import Errand
import ErrandTesting
import Foundation
import Testing

@Suite struct ResultsTests {
  /// A server that counts how many requests are under way.
  private func counting(_ peak: Lock<(now: Int, most: Int)>) -> Server {
    let transport = StubTransport { request in
      peak.withLock { peak in
        peak.now += 1
        peak.most = max(peak.most, peak.now)
      }
      for _ in 0..<5 { await Task.yield() }
      peak.withLock { $0.now -= 1 }
      try Task.checkCancellation()
      let id = request.url.lastPathComponent
      return id == "13" ? .status(404, for: request) : .json(#"{"id":\#(id),"name":""}"#, for: request)
    }
    return Server(remote: "https://shop.test", transport: transport, manager: TaskManager(limits: .unlimited))
  }

  @Test func `every task has its result, a window of them at a time`() async throws {
    let peak = Lock((now: 0, most: 0))
    let server = counting(peak)
    let ids = await server.manager.withResults(of: (1...100).map { GetWidget(id: $0).on(server) }, limit: 8) {
      results in
      var ids: [Int] = []
      for await (task, result) in results {
        if let widget = try? result.get() {
          #expect(widget.id == task.base.id)
        } else {
          #expect(task.base.id == 13)
        }
        ids.append(task.base.id)
      }
      return ids
    }
    #expect(ids.sorted() == Array(1...100))
    #expect(peak.withLock { $0.most } <= 8)
    #expect(server.manager.callCount == 0)
  }

  @Test func `what the reader leaves is cancelled and has ended when it returns`() async throws {
    let peak = Lock((now: 0, most: 0))
    let server = counting(peak)
    await server.manager.withResults(of: (1...1000).map { GetWidget(id: $0).on(server) }, limit: 4) {
      for await _ in $0 { break }
    }
    #expect(server.manager.callCount == 0)
    #expect(peak.withLock { $0.now } == 0)
  }

  @Test func `a limit below one runs one at a time`() async throws {
    let peak = Lock((now: 0, most: 0))
    let server = counting(peak)
    var count = 0
    for await _ in server.manager.results(of: (1...5).map { GetWidget(id: $0).on(server) }, limit: -3) { count += 1 }
    #expect(count == 5)
    #expect(peak.withLock { $0.most } == 1)
  }
}
