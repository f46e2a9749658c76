import Errand
import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct SerialQueuesTests {
  @Test func `runs the tasks of a queue one at a time, in order of arrival`() async throws {
    let queues = SerialQueues()
    let log = Shared<[Int]>([])
    let inside = Shared(0)
    var tasks: [Task<Void, any Error>] = []
    for number in 0..<50 {
      tasks.append(
        Task.immediate {
          try await queues.withExclusiveAccess(.named("a")) {
            let count = inside.withLock { count in
              count += 1
              return count
            }
            #expect(count == 1)
            await giveWay()
            log.withLock { $0.append(number) }
            inside.withLock { $0 -= 1 }
          }
        })
    }
    for task in tasks { try await task.value }
    #expect(log.withLock { $0 } == Array(0..<50))
  }

  @Test func `queues with different names do not wait for each other`() async throws {
    let queues = SerialQueues()
    try await queues.withExclusiveAccess(.named("a")) {
      try await queues.withExclusiveAccess(.named("b")) {}
      try await queues.withExclusiveAccess(.none) {}
    }
  }

  @Test func `entering a held queue again throws an error that names the queue`() async throws {
    let queues = SerialQueues()
    let error = await #expect(throws: TaskError.self) {
      try await queues.withExclusiveAccess(.named("sync")) {
        try await queues.withExclusiveAccess(.named("b")) { try await queues.withExclusiveAccess(.named("sync")) {} }
      }
    }
    #expect(error?.code == .reentrantQueue)
    #expect(error?.reason.contains("'sync'") == true)
    try await queues.withExclusiveAccess(.named("sync")) {}
  }

  @Test func `calls that wait for each other's queues throw an error instead of deadlocking`() async throws {
    let queues = SerialQueues()
    let (first, second) = (Gate(), Gate())
    let other = Task {
      try await queues.withExclusiveAccess(.named("b")) {
        second.open()
        await first.wait()
        try await queues.withExclusiveAccess(.named("a")) {}
      }
    }
    let error = await #expect(throws: TaskError.self) {
      try await queues.withExclusiveAccess(.named("a")) {
        await second.wait()
        first.open()
        try await queues.withExclusiveAccess(.named("b")) {}
        try await other.value  // if the other call waited last, that call is refused
      }
    }
    #expect(error?.code == .reentrantQueue && error?.reason.contains("would deadlock") == true)
    _ = await other.result
    for name in ["a", "b"] { try await queues.withExclusiveAccess(.named(name)) {} }
  }

  @Test func `calls started one after the other run in that order`() async throws {
    let stub = StubServer(.status(.ok))
    for round in 0..<20 {
      let handles = (0..<20).map { number in
        stub.server.manager.start(
          PlainTask(path: "\(round)/\(number)").on(stub.server).serialQueue(.named("notes")))
      }
      for handle in handles { _ = try await handle.value }
    }
    #expect(stub.requests.map(\.url.path) == (0..<20).flatMap { round in (0..<20).map { "/\(round)/\($0)" } })
  }

  @Test func `the tasks of a batch run in order`() async throws {
    let stub = StubServer(.widget)
    for _ in 0..<20 {
      let tasks = (1...20).map { GetWidget(id: $0).serialQueue(.named("notes")) }
      _ = try await stub.server.downloads(of: tasks, limit: 8)
    }
    #expect(stub.requests.map(\.url.lastPathComponent) == (0..<20).flatMap { _ in (1...20).map { "\($0)" } })
  }

  @Test func `a call that fails before its turn leaves the queue, and leaving twice is harmless`() async throws {
    let queues = SerialQueues()
    let gate = Gate()
    let holder = Task.immediate { try await queues.withExclusiveAccess(.named("a")) { await gate.wait() } }
    let (lost, kept) = (try queues.enter("a"), try queues.enter("a"))
    queues.leave(lost)
    let next = Task.immediate { try await queues.withExclusiveAccess(.named("a"), from: kept) {} }
    gate.open()
    try await holder.value
    try await next.value
    for place in [lost, kept] { queues.leave(place) }
    let late = Task { try await queues.withExclusiveAccess(.named("a"), from: kept) {} }
    try await late.value  // enters again, because the place has been left
  }

  @Test func `a call that is retried on another server enters that server's queue`() async throws {
    let (one, two) = (StubServer(.status(.notFound)), StubServer(.status(.ok)))
    let place = Shared(one.server)
    struct Note: ServerTask {
      let place: Shared<Server>
      let path = "notes"
      let serialQueue = SerialQueue.named("notes")
      var server: Server { place.withLock { $0 } }
    }
    let handle = one.server.manager.start(Note(place: place))
    await #expect(throws: TaskError.self) { try await handle.value }
    place.withLock { $0 = two.server }
    let gate = Gate()
    await two.server.update { $0.preflight = { task, _ in if task is PlainTask { await gate.wait() } } }
    let others = (0..<3).map { _ in two.server.manager.start(PlainTask().on(two.server).serialQueue(.named("notes"))) }
    #expect(handle.retry())
    gate.open()
    let ended = await finishes { for other in others { _ = try await other.value } }
    #expect(ended)
    #expect(try await handle.value.status == .ok)
    #expect(two.urls.last == "https://shop.test/notes", "\(two.urls)")
    let started = two.server.manager.start(Note(place: place))
    place.withLock { $0 = one.server }
    #expect(try await started.value.status == .ok, "the server is chosen when the call starts")
  }

  @Test func `a throwing body releases the queue`() async throws {
    let queues = SerialQueues()
    await #expect(throws: CancellationError.self) {
      try await queues.withExclusiveAccess(.named("a")) { throw CancellationError() }
    }
    try await queues.withExclusiveAccess(.named("a")) {}
  }

  @Test func `cancelling a waiter lets the next waiter run`() async throws {
    let queues = SerialQueues()
    let gate = Gate()
    let first = Task.immediate { try await queues.withExclusiveAccess(.named("a")) { await gate.wait() } }
    let second = Task.immediate { try await queues.withExclusiveAccess(.named("a")) {} }
    let third = Task.immediate { try await queues.withExclusiveAccess(.named("a")) {} }
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    gate.open()
    try await first.value
    try await third.value
  }

  @Test func `a preflight's call on the same queue throws instead of deadlocking`() async throws {
    let stub = StubServer(.status(.ok))
    let server = stub.server
    await server.update { configuration in
      configuration.preflight = { task, _ in
        guard task is GetWidget else { return }
        try await PlainTask().on(server).serialQueue(.named("sync")).run()
      }
    }
    let error = await #expect(throws: TaskError.self) {
      try await GetWidget().on(server).serialQueue(.named("sync")).run()
    }
    #expect(error?.code == .reentrantQueue)
    #expect(stub.requests.isEmpty)
  }

  @Test(arguments: [true, false])
  func `a call on the held queue throws, even in a Swift task that the preflight starts`(isChild: Bool) async throws {
    let stub = StubServer(.status(.ok))
    let server = stub.server
    await server.update { configuration in
      configuration.preflight = { task, _ in
        guard task is GetWidget else { return }
        let inner = PlainTask().on(server).serialQueue(.named("sync"))
        if isChild {
          async let response = inner.run()
          _ = try await response
        } else {
          _ = try await Task { try await inner.run() }.value
        }
      }
    }
    let error = await taskError { try await GetWidget().on(server).serialQueue(.named("sync")).run() }
    #expect(error?.code == .reentrantQueue && stub.requests.isEmpty, "\(String(describing: error))")
  }

  @Test(arguments: [true, false])
  func `a batch throws if a hook starts it on the queue of the hook's call`(isResults: Bool) async throws {
    let stub = StubServer(.widget)
    let server = stub.server
    await server.update { configuration in
      configuration.preflight = { task, _ in
        guard task is PlainTask else { return }
        let tasks = (0..<3).map { GetWidget(id: $0).on(server).serialQueue(.named("sync")) }
        guard isResults else {
          _ = try await server.manager.downloads(of: tasks)
          return
        }
        for await (_, result) in server.manager.results(of: tasks) { _ = try result.get() }
      }
    }
    let error = await #expect(throws: TaskError.self) {
      try await PlainTask().on(server).serialQueue(.named("sync")).run()
    }
    #expect(error?.code == .reentrantQueue && stub.requests.isEmpty)
  }

  /// Cancels the caller's Swift task in `willStart`.
  private struct Cancelling: ServerGETTask {
    let caller: Shared<Task<Void, any Error>?>
    var path: String { "widgets" }
    var serialQueue: SerialQueue { .named("sync") }

    func willStart() async { caller.withLock { $0 }?.cancel() }
  }

  @Test func `sends nothing if the caller is cancelled before the queue is free`() async throws {
    let stub = StubServer(.widget)
    let (gate, caller) = (Gate(), Shared<Task<Void, any Error>?>(nil))
    let call = Task { [server = stub.server] in
      await gate.wait()
      try await Cancelling(caller: caller).on(server).run()
    }
    caller.withLock { $0 = call }
    gate.open()
    await #expect(throws: CancellationError.self) { try await call.value }
    #expect(stub.requests.isEmpty)
  }

  @Test func `a call started by manager.start or Task.detached waits for the queue`() async throws {
    let stub = StubServer(.status(.ok))
    let server = stub.server
    let started = Shared<[Task<HTTPResponse, any Error>]>([])
    await server.update { configuration in
      configuration.preflight = { task, _ in
        guard task is GetWidget else { return }
        let next = PlainTask().on(server).serialQueue(.named("sync"))
        let plain = Task.detached { try await next.run() }
        let handle = server.manager.start(next)
        started.withLock { $0 = [plain, Task.detached { try await handle.value }] }
        await giveWay(100)  // so that the calls arrive while the queue is held
      }
    }
    try await GetWidget().on(server).serialQueue(.named("sync")).run()
    for call in started.withLock({ $0 }) { #expect(try await call.value.status == .ok) }
    #expect(stub.requests.map(\.url.path) == ["/widgets/7", "/plain", "/plain"])
  }

  @Test func `queues of different managers are independent even with the same name`() async throws {
    let (stub, other) = (StubServer(.status(.ok)), StubServer(.status(.ok)))
    await stub.server.update { configuration in
      configuration.preflight = { _, _ in
        try await PlainTask().on(other.server).serialQueue(.named("sync")).run()
      }
    }
    try await GetWidget().on(stub.server).serialQueue(.named("sync")).run()
    #expect(stub.requests.count == 1 && other.requests.count == 1)
  }

  @Test func `detects reentrancy in child tasks, calls on other queues and steps`()
    async throws
  {
    struct Nesting: PerAttemptStep {
      let nested: @Sendable () async throws -> Void
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await nested()
        return try await next(request)
      }
    }
    let stub = StubServer(.status(.ok))
    let server = stub.server
    await server.update { configuration in
      configuration.retryPolicy = .never
      configuration.perAttemptSteps = [
        Nesting { try await URLTask(.known("https://shop.test/inner")).on(server).serialQueue(.named("a")).run() }
      ]
    }
    // The nested call uses another queue, and its step requests the first queue again.
    let error = await taskError {
      try await GetWidget().on(server).serialQueue(.named("b")).hedged(after: .seconds(1)).run()
    }
    #expect(error?.code == .reentrantQueue)
    #expect(stub.requests.isEmpty)
  }

  @Test(arguments: 1...10) func `cancelling at any time leaves no waiter stuck`(seed: UInt64) async throws {
    let queues = SerialQueues()
    var random = SeededGenerator(seed: seed)
    var tasks: [Task<Void, any Error>] = []
    for _ in 0..<200 {
      tasks.append(Task { try await queues.withExclusiveAccess(.named("a")) { await giveWay() } })
      if Bool.random(using: &random) { tasks.randomElement(using: &random)?.cancel() }
    }
    for task in tasks {
      if case .failure(let error) = await task.result { #expect(error is CancellationError) }
    }
    try await queues.withExclusiveAccess(.named("a")) {}
  }
}
