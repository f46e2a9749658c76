import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct StatisticsTests {
  @Test func `counts calls by task type, ignoring modifiers`() async throws {
    let before = Date()
    let stub = StubServer(.widget)
    let manager = stub.server.manager
    for _ in 0..<3 { _ = try await GetWidget().on(stub.server).timeout(.seconds(9)).download() }
    try await AddWidget().on(stub.server).upload()
    let widgets = try #require(manager.statistics[GetWidget.self])
    #expect(widgets.task == "GetWidget" && widgets.count == 3 && widgets.successes == 3)
    #expect(widgets.failures == 0 && widgets.cancellations == 0 && widgets.retries == 0)
    #expect(widgets.bytesReceived == 3 * 26 && widgets.bytesSent == 0)
    #expect(widgets.lastRun >= before && widgets.lastRun <= Date())
    #expect(manager.statistics[AddWidget.self]?.bytesSent == 26)
    #expect(manager.statistics[PlainTask.self] == nil)
    #expect(manager.statistics.count == 4)
  }

  @Test func `recordings and statistics use custom names, and statistics limit the number of names`() async throws {
    let calls = RecordedCalls()
    let stub = StubServer(.widget) { $0.recorders = [calls] }
    let search = Endpoint<Void, Widget>.get("search").on(stub.server)
    for _ in 0..<2 { _ = try await search.named("Search").download() }
    _ = try await search.download()
    let statistics = stub.server.manager.statistics
    #expect(statistics["Search"]?.count == 2 && statistics["Search"]?.task == "Search" && statistics["search"] == nil)
    #expect(statistics[Endpoint<Void, Widget>.self]?.count == 1 && statistics.count == 3)
    #expect(statistics["Endpoint<(), Widget>"]?.count == 1, "an unnamed task uses the printed name of its type")
    #expect(calls.calls.map(\.task) == ["Search", "Search", "Endpoint<(), Widget>"])
    _ = try await GetWidget().on(stub.server).named("Search").download()
    #expect(stub.server.manager.statistics["Search"]?.count == 3)
    for number in 0..<1500 { _ = try await search.named("\(number)").download() }
    #expect(stub.server.manager.statistics.sorted().count == 1000 && stub.server.manager.statistics.count == 1504)
  }

  @Test func `counts failures, cancellations, retries and time`() async throws {
    let stub = StubServer(.status(503), .widget, .status(404))
    let manager = stub.server.manager
    let task = GetWidget().on(stub.server).retry(upTo: 1, after: .seconds(2))
    _ = try await task.download()
    _ = try? await task.download()
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await task.download()
    }
    _ = try? await cancelled.value
    let widgets = try #require(manager.statistics[GetWidget.self])
    #expect(widgets.count == 3 && widgets.failures == 1 && widgets.cancellations == 1 && widgets.successes == 1)
    #expect(widgets.retries == 1)
    #expect(widgets.duration == .seconds(2) && widgets.lastDuration == .zero)
    manager.resetStatistics()
    #expect(manager.statistics.count == 0)
  }

  @Test func `counts the bytes read from a stream`() async throws {
    let stub = StubServer(.data(Data("abcde".utf8), .plainText))
    let recorder = EventRecorder()
    await stub.server.update { $0.observers = [recorder] }
    let response = try await PlainTask().on(stub.server).stream()
    for try await _ in response.body {}
    #expect(await eventually { stub.server.manager.statistics[PlainTask.self] != nil })
    #expect(stub.server.manager.statistics[PlainTask.self]?.bytesReceived == 5)
  }

  @Test func `counts the bytes sent from a file for each attempt`() async throws {
    struct PostFile: ServerPUTTask, FileUploadingTask {
      let uploadFile: URL
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("up")
      try Data(count: 100).write(to: file)
      let stub = StubServer(.status(503), .status(200))
      try await PostFile(uploadFile: file).on(stub.server).retry(upTo: 1, after: .zero).upload()
      #expect(stub.server.manager.statistics[PostFile.self]?.bytesSent == 200)
    }
  }

  @Test func `sorts types by name, calls, bytes and last run`() async throws {
    let stub = StubServer(.widget, .data(Data(count: 1000), .octetStream), .widget)
    _ = try await GetWidget().on(stub.server).download()
    _ = try await PlainTask().on(stub.server).downloadData()
    _ = try await GetWidget().on(stub.server).download()
    let statistics = stub.server.manager.statistics
    #expect(statistics.sorted().map(\.task) == ["GetWidget", "PlainTask"])
    #expect(statistics.sorted(by: .count).map(\.task) == ["GetWidget", "PlainTask"])
    #expect(statistics.sorted(by: .bytes).map(\.task) == ["PlainTask", "GetWidget"])
    #expect(statistics.sorted(by: .recent).map(\.task) == ["GetWidget", "PlainTask"])
    #expect(statistics.description.split(separator: "\n").count == 2)
  }

  @Test func `counts all calls that end concurrently`() async throws {
    let stub = StubServer(.widget)
    await withTaskGroup { group in
      for _ in 0..<500 { group.addTask { _ = try? await GetWidget().on(stub.server).download() } }
    }
    #expect(stub.server.manager.statistics[GetWidget.self]?.count == 500)
  }

  @Test func `counts a hedge as a retry, but does not count an interrupted retry delay`() async throws {
    let slow = VirtualShop { number, request, clock in
      if number == 1 { try await CallClock(clock).sleep(for: .seconds(100)) }
      return .ok(request)
    }
    let call = Task { try await slow.task().hedged(after: .seconds(1)).run() }
    await slow.clock.pass(.seconds(1), sleepers: 2)
    _ = try await call.value
    #expect(slow.manager.statistics[ShopTask.self]?.retries == 1)

    let failing = VirtualShop { _, request, _ in .unavailable(request) }
    let cancelled = Task { try await failing.task().run() }
    await failing.clock.pass(.zero, sleepers: 1)
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { _ = try await cancelled.value }
    #expect(failing.sentCount == 1 && failing.manager.statistics[ShopTask.self]?.retries == 0)
  }
}
