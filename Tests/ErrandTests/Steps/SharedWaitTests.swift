import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Steps and bodies that wait for a call started by other code.
@Suite(.timeLimit(.minutes(2))) struct SharedWaitTests {
  /// Requests a token once for all callers.
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

  /// Renews the token when a 200 response says that it has expired.
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

  @Test func `steps can share the wait for a token that another step requests`() async throws {
    let server = Shared<Server?>(nil)
    let shop = shop(perHost: 2) { $0.perAttemptSteps = [SignIn(server: server)] }
    server.withLock { $0 = shop.server }
    let calls = (0..<6).map { number in Task { try await CachedTask(path: "\(number)").on(shop.server).download() } }
    for call in calls { #expect(try await call.value == "data") }
    #expect(await eventually { shop.manager.runningCount == 0 && shop.manager.throttle.waiting == 0 })
  }

  @Test func `request bodies can wait for a token that the first body requests`() async throws {
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

  @Test(arguments: Watching.allCases) private func `a body can wait for a call started elsewhere`(by watching: Watching)
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
    isStarted.open()
    let isDone = await eventually { handle.state.isOver }
    #expect(isDone)
    if !isDone { handle.cancel() }
    #expect(try await upload.value.status == .ok)
  }
}
