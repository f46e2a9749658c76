import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Attempts that have all slots, and wait for one call that only one of them has made, or none.
@Suite(.timeLimit(.minutes(2))) struct SharedWaitTests {
  /// A token that is requested once for all who need it.
  private actor Session {
    private(set) var token = "old"
    private var request: Task<String, any Error>?

    func renewed(at server: Server, _ old: String) async throws -> String {
      if token != old { return token }
      let request =
        request
        ?? Task { try await CachedTask(path: "token").on(server).retry(.fixed(retries: 1, delay: .zero)).download() }
      self.request = request
      token = try await request.value
      return token
    }
  }

  /// Signs in anew where a response of 200 says that the token has expired.
  private struct SignIn: PerAttemptStep {
    let session = Session()
    let server: Shared<Server?>

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      guard request.url.path != "/token", let server = server.withLock({ $0 }) else { return try await next(request) }
      var request = request
      let token = await session.token
      request.headers["X-Token"] = token
      let response = try await next(request)
      guard response.headers.contains("X-Expired") else { return response }
      request.headers["X-Token"] = try await session.renewed(at: server, token)
      return try await next(request)
    }
  }

  private func shop(perHost: Int, _ configure: (inout ServerConfiguration) -> Void = { _ in }) -> VirtualShop {
    let isFirst = Shared(true)
    return VirtualShop(limits: ThrottleLimits(perHost: perHost), configure: configure) { _, request, _ in
      try await request.body.forEachChunk { _ in }
      guard request.url.path == "/token" else {
        return request.headers["X-Token"] == "new"
          ? .text("data", for: request) : .text("", ["X-Expired": "1"], for: request)
      }
      let isBusy = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      return isBusy ? .unavailable(request) : .text("new", for: request)
    }
  }

  @Test func `steps wait for a token that one of them requests`() async throws {
    let server = Shared<Server?>(nil)
    let shop = shop(perHost: 2) { $0.perAttemptSteps = [SignIn(server: server)] }
    server.withLock { $0 = shop.server }
    let calls = (0..<6).map { number in Task { try await CachedTask(path: "\(number)").on(shop.server).download() } }
    for call in calls { #expect(try await call.value == "data") }
    #expect(await eventually { shop.manager.runningCount == 0 && shop.manager.throttle.waiting == 0 })
  }

  @Test func `bodies wait for a key that one of them requests, which is first in line`() async throws {
    let shop = shop(perHost: 2)
    _ = try await CachedTask(path: "token").on(shop.server).retry(.fixed(retries: 1, delay: .zero)).download()
    let session = Session()
    let uploads = (0..<6).map { _ in
      Task {
        try await MadeBody(server: shop.server) { Data(try await session.renewed(at: shop.server, "old").utf8) }.run()
      }
    }
    for upload in uploads { #expect(try await upload.value.status == .ok) }
  }

  private enum Watching: CaseIterable { case value, events, earlierEvents, progress, earlierProgress }

  @Test(arguments: Watching.allCases) private func `a body waits for what was started elsewhere`(by watching: Watching)
    async throws
  {
    let shop = shop(perHost: 1)
    let (isSending, isStarted) = (Gate(), Gate())
    let started = Shared<(handle: TaskHandle<String>, events: AsyncStream<TaskEvent>, AsyncStream<TransferProgress>)?>(
      nil)
    let body = MadeBody(server: shop.server) {
      isSending.open()
      await isStarted.wait()
      let (handle, events, progress) = try #require(started.withLock { $0 })
      switch watching {
      case .value: break
      case .events: for await _ in handle.events {}
      case .earlierEvents: for await _ in events {}
      case .progress: for await _ in handle.progress {}
      case .earlierProgress: for await _ in progress {}
      }
      return Data(try await handle.value.utf8)
    }
    let upload = Task { try await body.run() }
    await isSending.wait()
    let handle = shop.manager.start(CachedTask(path: "token").on(shop.server).retry(.fixed(retries: 1, delay: .zero)))
    started.withLock { $0 = (handle, handle.events, handle.progress) }
    #expect(await eventually { shop.manager.throttle.waiting == 1 })
    isStarted.open()
    let isDone = await eventually { handle.state.isOver }
    #expect(isDone)
    if !isDone { handle.cancel() }
    #expect(try await upload.value.status == .ok)
  }

  @Test func `a body keeps its slot while it reads the events of a call that is over`() async throws {
    let (isRead, mayEnd) = (Gate(), Gate())
    let shop = VirtualShop(limits: ThrottleLimits(perHost: 1)) { _, request, _ in
      try await request.body.forEachChunk { _ in }
      return .ok(request)
    }
    let handle = shop.manager.start(shop.task("before"))
    _ = try await handle.value
    #expect(await eventually { handle.state.isOver })
    let body = MadeBody(server: shop.server) {
      for await _ in handle.events {}
      for await _ in handle.progress {}
      isRead.open()
      await mayEnd.wait()
      return Data()
    }
    let upload = Task { try await body.run() }
    await isRead.wait()
    #expect(shop.manager.throttle.running == 1)
    mayEnd.open()
    _ = try await upload.value
  }

  @Test func `a body waits for the end of a transfer that was started elsewhere`() async throws {
    try await withFolder { folder in
      let shop = VirtualShop(limits: ThrottleLimits(perHost: 1)) { _, request, _ in
        try await request.body.forEachChunk { _ in }
        return .text("file", for: request)
      }
      let place = folder.appendingPathComponent("file")
      let download = ResumableDownload(ShopTask(path: "file", httpMethod: .get).on(shop.server), to: place)
      let (isSending, isStarted, isWatching) = (Gate(), Gate(), Gate())
      let body = MadeBody(server: shop.server) {
        isSending.open()
        await isStarted.wait()
        for await _ in download.states { isWatching.open() }
        return Data()
      }
      let upload = Task { try await body.run() }
      await isSending.wait()
      let run = Task { try await download.run() }
      #expect(await eventually { shop.manager.throttle.waiting == 1 })
      isStarted.open()
      await isWatching.wait()
      let isDone = await eventually { download.state.isOver }
      #expect(isDone)
      if !isDone { download.cancel() }
      _ = try await (upload.value, run.value)
    }
  }

  /// A body that says that it is read, and ends with its gate.
  private final class Held: HTTPBodySource {
    let isRead = Gate()
    let end = Gate()

    func next() async throws -> Data? {
      isRead.open()
      await end.wait()
      return nil
    }
  }

  private struct Passing: PerAttemptStep {
    let mayMakeCalls: Bool
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse { try await next(request) }
  }

  @Test(arguments: [false, true]) func `a step that makes no calls keeps the slot to the end of the body`(
    mayMakeCalls: Bool
  ) async throws {
    let body = Held()
    let shop = VirtualShop(
      limits: ThrottleLimits(perHost: 1), configure: { $0.perAttemptSteps = [Passing(mayMakeCalls: mayMakeCalls)] },
      answer: { _, request, _ in HTTPResponse(url: request.url, body: HTTPResponseBody(body)) })
    let call = Task { try await shop.task().downloadData() }
    await body.isRead.wait()
    #expect(shop.manager.throttle.running == (mayMakeCalls ? 0 : 1))
    body.end.open()
    _ = try await call.value
  }

  /// Begins a call that goes on without it.
  private struct Beginning: PerAttemptStep {
    let begin: Gate
    let server: Shared<Server?>

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      if request.url.path == "/outer", let server = server.withLock({ $0 }) {
        Task {
          await begin.wait()
          try await ShopTask(path: "left-behind", httpMethod: .get).on(server).run()
        }
      }
      return try await next(request)
    }
  }

  @Test func `what an attempt has left behind is first in line, for others may wait for it`() async throws {
    let (server, begin, isHeld, mayEnd) = (Shared<Server?>(nil), Gate(), Gate(), Gate())
    let order = Shared([String]())
    let shop = VirtualShop(
      limits: ThrottleLimits(perHost: 1), configure: { $0.perAttemptSteps = [Beginning(begin: begin, server: server)] },
      answer: { _, request, _ in
        order.withLock { $0.append(request.url.lastPathComponent) }
        if request.url.path == "/held" {
          isHeld.open()
          await mayEnd.wait()
        }
        return .ok(request)
      })
    server.withLock { $0 = shop.server }
    try await shop.task("outer").run()
    let held = Task { try await shop.task("held").run() }
    await isHeld.wait()
    let urgent = Task { try await shop.task("urgent").priority(.urgent).run() }
    #expect(await eventually { shop.manager.throttle.waiting == 1 })
    begin.open()
    #expect(await eventually { shop.manager.throttle.waiting == 2 })
    mayEnd.open()
    _ = try await (held.value, urgent.value)
    #expect(await eventually { shop.manager.callCount == 0 })
    #expect(order.withLock { $0 } == ["outer", "held", "left-behind", "urgent"])
  }

  @Test func `bodies wait for a token that one of them has requested, which was cancelled`() async throws {
    let (isHeld, mayEnd, mayRequest) = (Gate(), Gate(), Gate())
    let shop = VirtualShop(limits: ThrottleLimits(perHost: 2)) { _, request, _ in
      if request.url.path == "/held" {
        isHeld.open()
        await mayEnd.wait()
      }
      try await request.body.forEachChunk { _ in }
      return .text("new", for: request)
    }
    let held = Task { try await shop.task("held").run() }
    await isHeld.wait()
    let token = Shared<Task<String, any Error>?>(nil)
    let first = Task {
      try await MadeBody(server: shop.server) {
        let request = Task {
          await mayRequest.wait()
          return try await CachedTask(path: "token").on(shop.server).download()
        }
        token.withLock { $0 = request }
        try await CallClock(ManualClock()).sleep(for: .seconds(1))
        return Data()
      }.run()
    }
    #expect(await eventually { token.withLock { $0 != nil } })
    let others = (0..<2).map { _ in
      Task {
        try await MadeBody(server: shop.server) {
          Data(try await (try #require(token.withLock { $0 })).value.utf8)
        }.run()
      }
    }
    #expect(await eventually { shop.manager.throttle.waiting == 2 })
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    #expect(await eventually { shop.manager.throttle.waiting == 1 })
    mayRequest.open()
    #expect(await eventually { shop.manager.throttle.waiting == 2 })
    mayEnd.open()
    _ = try await held.value
    let isDone = await eventually { shop.manager.throttle.waiting == 0 }
    #expect(isDone)
    if !isDone { token.withLock { $0 }?.cancel() }
    for upload in others { #expect(try await upload.value.status == .ok) }
  }

  /// Begins a call that goes on without it, and that others wait for.
  private struct Storing: PerAttemptStep {
    let stored: Shared<Task<String, any Error>?>
    let may: Gate
    let server: Shared<Server?>

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      if request.url.path == "/inner", let server = server.withLock({ $0 }) {
        let task = Task {
          await may.wait()
          return try await CachedTask(path: "token").on(server).download()
        }
        stored.withLock { $0 = task }
      }
      return try await next(request)
    }
  }

  @Test func `bodies wait for a token that a call of one of them has requested, which is over`() async throws {
    let (server, stored, may, isOver) = (
      Shared<Server?>(nil), Shared<Task<String, any Error>?>(nil), Gate(), Gate()
    )
    let step = Storing(stored: stored, may: may, server: server)
    let shop = VirtualShop(limits: ThrottleLimits(perHost: 2), configure: { $0.perAttemptSteps = [step] }) {
      _, request, _ in
      try await request.body.forEachChunk { _ in }
      return .text("new", for: request)
    }
    server.withLock { $0 = shop.server }
    let token = { @Sendable in Data(try await (try #require(stored.withLock { $0 })).value.utf8) }
    let first = Task {
      try await MadeBody(server: shop.server) {
        _ = try await CachedTask(path: "inner").on(shop.server).download()
        isOver.open()
        return try await token()
      }.run()
    }
    await isOver.wait()
    let second = Task { try await MadeBody(server: shop.server) { try await token() }.run() }
    #expect(await eventually { shop.manager.runningCount == 2 })
    may.open()
    let isDone = await eventually { shop.manager.callCount == 0 }
    #expect(isDone)
    if !isDone { stored.withLock { $0 }?.cancel() }
    for upload in [first, second] { #expect(try await upload.value.status == .ok) }
  }

  private final class Marker: Sendable {}

  private struct Marked: ServerGETTask {
    let server: Server
    let path: String
    let marker: Marker
  }

  /// Begins the next call with each, which goes on without it.
  private struct Heartbeat: PerAttemptStep {
    let server: Shared<Server?>
    let markers: Shared<[WeakMarker]>

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let number = (Int(request.url.lastPathComponent) ?? 0) + 1
      if number < 4, let server = server.withLock({ $0 }) {
        let task = Marked(server: server, path: "\(number)", marker: Marker())
        markers.withLock { $0.append(WeakMarker(marker: task.marker)) }
        Task { try await task.run() }
      }
      return try await next(request)
    }
  }

  private struct WeakMarker: Sendable {
    weak let marker: Marker?
  }

  @Test func `what was begun by an attempt holds it no longer than that lasts`() async throws {
    let (server, markers, mayEnd) = (Shared<Server?>(nil), Shared<[WeakMarker]>([]), Gate())
    let shop = VirtualShop(configure: { $0.perAttemptSteps = [Heartbeat(server: server, markers: markers)] }) {
      _, request, _ in
      if request.url.path == "/3" { await mayEnd.wait() }
      return .ok(request)
    }
    server.withLock { $0 = shop.server }
    try await shop.task("0").run()
    #expect(await eventually { shop.manager.callCount == 1 && markers.withLock { $0.count } == 3 })
    // The second is the attempt that the third was begun in.
    #expect(await eventually { markers.withLock { $0.map { $0.marker != nil } } == [false, true, true] })
    mayEnd.open()
    #expect(await eventually { shop.manager.callCount == 0 })
  }
}
