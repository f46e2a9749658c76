import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct CancellationTests {
  /// Creates a server whose transport never responds, and a counter of its requests.
  private func silent(limits: ThrottleLimits = ThrottleLimits()) -> (server: Server, asked: Counter) {
    let asked = Counter()
    let transport = StubTransport { _ in
      asked.add()
      while true { try await Task.sleep(for: .seconds(3600)) }
    }
    return (Server("https://shop.test", transport: transport, manager: TaskManager(limits: limits)), asked)
  }

  @Test func `cancelling the Swift task that awaits a call throws CancellationError`() async throws {
    let (server, asked) = silent()
    let call = Task { try await GetWidget().on(server).download() }
    await asked.reached(1)
    #expect(server.manager.runningCount == 1 && server.manager.callCount == 1)
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    #expect(server.manager.runningCount == 0 && server.manager.callCount == 0)
  }

  @Test func `a cancelled task sends nothing`() async throws {
    let (server, asked) = silent()
    let call = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      _ = try await GetWidget().on(server).download()
    }
    await #expect(throws: CancellationError.self) { try await call.value }
    #expect(asked.count == 0)
  }

  @Test func `cancelAll cancels a call even during its first hook`() async throws {
    struct Slow: ServerTask {
      let (begun, gate): (Counter, Gate)
      func willStart() async {
        begun.add()
        await gate.wait()
      }
    }
    let (server, asked) = silent()
    let slow = Slow(begun: Counter(), gate: Gate())
    let call = Task { try await slow.on(server).run() }
    await slow.begun.reached(1)
    #expect(await server.manager.cancelAll() == 1)
    slow.gate.open()
    await #expect(throws: CancellationError.self) { try await call.value }
    #expect(asked.count == 0 && server.manager.callCount == 0)
  }

  @Test func `cancelAll ends all calls without cancelling the Swift tasks that await the calls`() async throws {
    let (server, asked) = silent(limits: ThrottleLimits(perHost: 2))
    let calls = (0..<5).map { _ in
      Task {
        await #expect(throws: CancellationError.self) { try await GetWidget().on(server).run() }
        return Task.isCancelled
      }
    }
    await asked.reached(2)
    #expect(await eventually { server.manager.waitingCount >= 3 })
    #expect(await server.manager.cancelAll() == 5)
    for call in calls { #expect(await call.value == false) }
    #expect(server.manager.runningCount == 0 && server.manager.waitingCount == 0 && server.manager.callCount == 0)
  }

  @Test func `cancels calls by tag and by type`() async throws {
    let (server, asked) = silent()
    let a = Task { try await GetWidget().on(server).tagged("a").run() }
    let b = Task { try await GetWidget().on(server).run() }
    let c = Task { try await AddWidget().on(server).run() }
    await asked.reached(3)
    #expect(await server.manager.cancel(tag: "a") == 1)
    await #expect(throws: CancellationError.self) { try await a.value }
    #expect(await server.manager.cancel(type: AddWidget.self) == 1)
    await #expect(throws: CancellationError.self) { try await c.value }
    #expect(await server.manager.cancel(tag: "GetWidget") == 1)
    await #expect(throws: CancellationError.self) { try await b.value }
    #expect(await server.manager.cancelAll() == 0)
  }

  @Test func `a stream can be cancelled while its body is being read`() async throws {
    let source = SilentSource()
    let transport = StubTransport { HTTPResponse(url: $0.url, body: HTTPResponseBody(source)) }
    let server = Server("https://shop.test", transport: transport)
    let recorder = EventRecorder()
    await server.update { $0.observers = [recorder] }
    let response = try await PlainTask().on(server).stream()
    #expect(server.manager.callCount == 1, "the call lasts until its body ends")
    #expect(await server.manager.cancelAll() == 1)
    await #expect(throws: CancellationError.self) { try await response.body.next() }
    await recorder.balanced()
    #expect(recorder.moments().last == "call cancelled")
    #expect(server.manager.runningCount == 0 && server.manager.callCount == 0)
  }

  @Test func `a stream ends at the deadline of its call with an error that names the deadline`() async throws {
    let clock = ManualClock()
    let transport = StubTransport { HTTPResponse(url: $0.url, body: HTTPResponseBody(SilentSource())) }
    let manager = TaskManager(clock: CallClock(clock))
    let server = Server("https://shop.test", transport: transport, manager: manager)
    let response = try await PlainTask().on(server).deadline(.seconds(9)).stream()
    await clock.sleepers(count: 1)
    clock.advance(by: .seconds(9))
    let error = await #expect(throws: TaskError.self) { try await response.body.collect() }
    #expect(error?.timer == .call)
  }

  @Test func `waiting for a slot counts against the queue timeout, not the attempt timeout`() async throws {
    let clock = ManualClock()
    let gate = Gate()
    let transport = StubTransport { request in
      await gate.wait()
      return .status(.ok, for: request)
    }
    let manager = TaskManager(limits: ThrottleLimits(perHost: 1), clock: CallClock(clock))
    let server = Server("https://shop.test", transport: transport, manager: manager)
    let first = Task { try await GetWidget().on(server).run() }
    #expect(await eventually { manager.runningCount >= 1 })
    let second = Task {
      try await GetWidget().on(server).timeouts(Timeouts(queue: .seconds(3))).retry(.never).run()
    }
    await clock.sleepers(count: 1)
    clock.advance(by: .seconds(3))
    let error = await #expect(throws: TaskError.self) { try await second.value }
    #expect(error?.timer == .queue && error?.phase == .waiting)
    gate.open()
    _ = try await first.value
    #expect(manager.runningCount == 0 && manager.waitingCount == 0)
  }

  @Test func `a preflight can run another task on the same host with a limit of one`() async throws {
    let stub = StubServer(.status(.ok), limits: ThrottleLimits(perHost: 1, total: 1))
    let server = stub.server
    await server.update { configuration in
      configuration.preflight = { task, _ in if task is GetWidget { try await PlainTask().on(server).run() } }
    }
    try await withThrowingTaskGroup { group in
      for _ in 0..<10 { group.addTask { try await GetWidget().on(server).run() } }
      try await group.waitForAll()
    }
    #expect(stub.requests.count == 20)
  }

  @Test(arguments: 1...3) func `a thousand randomly cancelled calls all end and leave nothing behind`(
    seed: UInt64
  ) async throws {
    let transport = StubTransport { request in
      for _ in 0..<(request.url.path.utf8.reduce(0) { Int($1) &+ $0 } % 7) {
        await giveWay()
        try Task.checkCancellation()
      }
      return .json(#"{"id":7,"name":"Sprocket"}"#, for: request)
    }
    let server = Server("https://shop.test", transport: transport)
    let recorder = EventRecorder()
    await server.update { $0.observers = [recorder] }
    var random = SeededGenerator(seed: seed)
    var calls: [(task: Task<Widget, any Error>, isCancelled: Bool)] = []
    for id in 0..<1000 {
      let call = Task { try await GetWidget(id: id).on(server).download() }
      await giveWay(Int.random(in: 0..<3, using: &random))
      let isCancelled = Bool.random(using: &random)
      if isCancelled { call.cancel() }
      calls.append((call, isCancelled))
    }
    for call in calls {
      switch await call.task.result {
      case .success(let widget): #expect(widget == Widget(), "the call succeeded before it was cancelled")
      case .failure(let error): #expect(error is CancellationError && call.isCancelled, "\(error)")
      }
    }
    #expect(server.manager.runningCount == 0 && server.manager.waitingCount == 0 && server.manager.callCount == 0)
    #expect(recorder.problems == [])
    _ = try await GetWidget().on(server).download()
  }
}

/// A body that yields nothing until it is cancelled.
private final class SilentSource: HTTPBodySource {
  private let gate = Gate()

  func next() async throws -> Data? {
    await withTaskCancellationHandler {
      await gate.wait()
    } onCancel: {
      gate.open()
    }
    throw CancellationError()
  }

  func cancel() { gate.open() }
}
