import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Wait cycles across queues, refreshes, shared requests and handles.
@Suite(.timeLimit(.minutes(1))) struct WaitCycleTests {
  @Test(arguments: [false, true]) func `a refresh does not wait for the queue of a call that waits for the refresh`(
    isRefreshBegunByHolder: Bool
  ) async throws {
    let stub = StubServer(.widget)
    let server = stub.server
    let (begun, mayGo) = (Gate(), Gate())
    await server.update { configuration in
      configuration.authentication = .bearer {
        begun.open()
        await mayGo.wait()
        try await PlainTask().on(server).serialQueue(.named("account")).run()
        return "token"
      }
    }
    let ended = await finishes {
      async let a = try? {
        if !isRefreshBegunByHolder {
          async let b = try? GetWidget(id: 1).on(server).run()
          await begun.wait()
          let c = try await GetWidget(id: 2).on(server).serialQueue(.named("account")).run()
          _ = await b
          return c
        }
        return try await GetWidget(id: 2).on(server).serialQueue(.named("account")).run()
      }()
      Task {
        await begun.wait()
        await giveWay(100)
        mayGo.open()
      }
      _ = await a
    }
    #expect(ended, "the call on the queue waits for the refresh, which waits for the queue")
    await server.manager.cancelAll()
  }

  @Test(arguments: [false, true]) func `two refreshes that need each other's shared requests do not deadlock`(
    coalesces: Bool
  ) async throws {
    let place = Shared<Server?>(nil)
    let begun = Counter()
    let shop = CachedShop(
      configure: {
        ($0.coalescesRequests, $0.cache) = (coalesces, nil)
        let users = Authentication.bearer {
          guard let server = place.withLock({ $0 }) else { return "none" }
          begun.add()
          await begun.reached(2)
          return try await CachedTask(path: "config").on(server).download()
        }.forPaths(below: "/users")
        let config = Authentication.bearer {
          guard let server = place.withLock({ $0 }) else { return "none" }
          begun.add()
          await begun.reached(2)
          return try await CachedTask(path: "users").on(server).download()
        }.forPaths(below: "/config")
        $0.authentication = .firstMatching([users, config])
      },
      answer: { _, request in .text("fine", for: request) })
    place.withLock { $0 = shop.server }
    let ended = await finishes {
      async let a = try? shop.task("config").download()
      async let b = try? shop.task("users").download()
      _ = await (a, b)
    }
    #expect(ended, "both refreshes joined requests that wait for them")
    await shop.server.manager.cancelAll()
    place.withLock { $0 = nil }
  }

  @Test(arguments: [false, true]) func `calls that wait for each other's queue do not deadlock, even through a handle`(
    isDirect: Bool
  ) async throws {
    let stub = StubServer(.status(.ok))
    let server = stub.server
    let (first, second) = (Gate(), Gate())
    await server.update { configuration in
      configuration.preflight = { task, _ in
        guard let task = task as? GetWidget else { return }
        if task.id == 1 {
          first.open()
          await second.wait()
          try await PlainTask().on(server).serialQueue(.named("b")).run()
        } else {
          second.open()
          await first.wait()
          let next = PlainTask().on(server).serialQueue(.named("a"))
          // The error of a direct call recommends `manager.start`.
          if isDirect { try await next.run() } else { _ = try await server.manager.start(next).value }
        }
      }
    }
    let ended = await finishes {
      async let a = try? GetWidget(id: 1).on(server).serialQueue(.named("a")).run()
      async let b = try? GetWidget(id: 2).on(server).serialQueue(.named("b")).run()
      _ = await (a, b)
    }
    #expect(ended, "two calls wait for each other's queue forever")
    await server.manager.cancelAll()
  }

  @Test func `a call's event stream ends if the stream's reader holds the call's queue`() async throws {
    let stub = StubServer(.status(.ok))
    let server = stub.server
    await server.update { configuration in
      configuration.preflight = { task, _ in
        guard task is GetWidget else { return }
        let handle = server.manager.start(PlainTask().on(server).serialQueue(.named("a")))
        for await _ in handle.events {}
      }
    }
    let ended = await finishes { try await GetWidget().on(server).serialQueue(.named("a")).run() }
    #expect(ended)
    await server.manager.cancelAll()
  }

  @Test(arguments: [false, true]) func `a call fails without sending anything if its token request waits for the call`(
    coalesces: Bool
  ) async throws {
    let place = Shared<Server?>(nil)
    let (begun, isHeld) = (Gate(), Gate())
    let stub = StubServer(.status(.ok)) {
      $0.coalescesRequests = coalesces
      $0.authentication = Authentication.bearer {
        guard let server = place.withLock({ $0 }) else { return "none" }
        begun.open()
        await isHeld.wait()
        try await PlainTask(path: "token").on(server).authenticated(.none).serialQueue(.named("account")).run()
        return "token"
      }.forPaths(below: "/widgets")
      $0.preflight = { task, _ in
        guard let server = place.withLock({ $0 }), (task as? PlainTask)?.path == "login" else { return }
        isHeld.open()
        await begun.wait()
        await giveWay(200)
        _ = try await server.data(GetWidget(id: 2))
      }
    }
    place.withLock { $0 = stub.server }
    let results = Shared<(first: TaskError?, login: TaskError?)>((nil, nil))
    let ended = await finishes {
      async let first = taskError { _ = try await stub.server.data(GetWidget(id: 1)) }
      await begun.wait()
      let login = await taskError {
        try await PlainTask(path: "login").on(stub.server).serialQueue(.named("account")).run()
      }
      let (one, two) = (await first, login)
      results.withLock { $0 = (one, two) }
    }
    #expect(ended)
    let (first, login) = results.withLock { $0 }
    #expect(first == nil, "the first call gets its token when the queue is free")
    #expect(login?.code == .reentrantQueue, "\(String(describing: login))")
    let anonymous = stub.requests.filter { $0.url.path.hasPrefix("/widgets") && !$0.headers.contains(.authorization) }
    #expect(anonymous.isEmpty, "\(stub.urls)")
    await stub.server.manager.cancelAll()
    place.withLock { $0 = nil }
  }

  /// Makes a call on its own queue in a hook that can't fail.
  private struct Checking: PayloadDownloadingTask {
    typealias DownloadPayload = Data
    let path = "notes"
    let serialQueue = SerialQueue.named("a")
    let server: Server
    let isAtEnd: Bool
    let codes: Shared<[TaskError.Code?]>

    func willStart() async { if !isAtEnd { await check() } }
    func didFail(with error: any Error) async { if isAtEnd { await check() } }

    private func check() async {
      let error = await taskError { try await PlainTask().on(server).serialQueue(.named("a")).run() }
      codes.withLock { $0.append(error?.code) }
    }
  }

  @Test(arguments: ["send", "start", "batch"], [false, true])
  func `a hook at the start of a call can't use the call's queue, but a hook at the end can`(
    verb: String, isAtEnd: Bool
  ) async throws {
    let stub = StubServer(.status(isAtEnd ? .notFound : .ok))
    let codes = Shared<[TaskError.Code?]>([])
    let task = Checking(server: stub.server, isAtEnd: isAtEnd, codes: codes)
    let ended = await finishes {
      switch verb {
      case "send": _ = try? await task.send()
      case "start": _ = try? await stub.server.manager.start(task).value
      default: _ = try? await stub.server.downloads(of: [task])
      }
    }
    #expect(ended)
    #expect(codes.withLock { $0 } == [isAtEnd ? .badStatus : .reentrantQueue])
    await stub.server.manager.cancelAll()
  }

  @Test func `the hook at the end of a call on a disabled server can use the call's queue`() async throws {
    let stub = StubServer(.status(.ok)) { $0.disabled = true }
    let codes = Shared<[TaskError.Code?]>([])
    let task = Checking(server: stub.server, isAtEnd: true, codes: codes)
    let ended = await finishes { _ = try? await stub.server.manager.start(task).value }
    #expect(ended && codes.withLock { $0 } == [.disabled])
  }

  @Test func `creating an event stream in a hook does not count as a wait`() async throws {
    let stub = StubServer(.status(.ok))
    let server = stub.server
    let events = Shared<AsyncStream<TaskEvent>?>(nil)
    await server.update { configuration in
      configuration.postflight = { task, _ in
        guard task is GetWidget else { return }
        let handle = server.manager.start(PlainTask().on(server).serialQueue(.named("a")))
        events.withLock { $0 = handle.events }
      }
    }
    try await GetWidget().on(server).serialQueue(.named("a")).run()
    var kinds: [String] = []
    for await event in try #require(events.withLock { $0 }) { kinds.append(event.moment.kind) }
    #expect(kinds.first == "callStarted" && kinds.last == "callEnded" && stub.requests.count == 2)
  }

  @Test func `calls of two managers do not deadlock if they wait for each other's queues`() async throws {
    let (one, two) = (StubServer(.status(.ok)), StubServer(.status(.ok)))
    let (first, second) = (Gate(), Gate())
    await one.server.update { configuration in
      configuration.preflight = { task, _ in
        guard task is GetWidget else { return }
        first.open()
        await second.wait()
        try await PlainTask().on(two.server).serialQueue(.named("b")).run()
      }
    }
    await two.server.update { configuration in
      configuration.preflight = { task, _ in
        guard task is GetWidget else { return }
        second.open()
        await first.wait()
        try await PlainTask().on(one.server).serialQueue(.named("a")).run()
      }
    }
    let ended = await finishes {
      async let a = try? GetWidget().on(one.server).serialQueue(.named("a")).run()
      async let b = try? GetWidget().on(two.server).serialQueue(.named("b")).run()
      _ = await (a, b)
    }
    #expect(ended, "two calls wait for each other's queue forever")
  }

  @Test func `a Swift task that outlives its queue access does not cause a false deadlock error`() async throws {
    let queues = SerialQueues()
    let (bHeld, mayAsk, cHeld, mayEnd) = (Gate(), Gate(), Gate(), Gate())
    let holder = Task {
      try await queues.withExclusiveAccess(.named("b")) {
        bHeld.open()
        await mayAsk.wait()
        try await queues.withExclusiveAccess(.named("a")) {}
      }
    }
    await bHeld.wait()
    let left = Shared<Task<Void, any Error>?>(nil)
    let isWaiting = Gate()
    try await queues.withExclusiveAccess(.named("a")) {
      let work = Task {
        try await queues.withExclusiveAccess(.named("b")) { isOver, _ in
          if !isOver { isWaiting.open() }
        } body: {
        }
      }
      left.withLock { $0 = work }
      await isWaiting.wait()
    }
    // The holder of "a" has ended. Another call now holds "a" and waits for nothing.
    let next = Task {
      try await queues.withExclusiveAccess(.named("a")) {
        cHeld.open()
        await mayEnd.wait()
      }
    }
    await cHeld.wait()
    mayAsk.open()
    await giveWay(100)
    mayEnd.open()
    try await next.value
    let result = await holder.result
    #expect(throws: Never.self, "the wait was refused although there was no deadlock") { try result.get() }
    _ = await left.withLock { $0 }?.result
  }
}
