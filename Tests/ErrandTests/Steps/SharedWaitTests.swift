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

  @Test func `a body waits for what was started elsewhere`() async throws {
    let shop = shop(perHost: 1)
    let (isSending, handles) = (Gate(), Shared<TaskHandle<String>?>(nil))
    let isStarted = Gate()
    let body = MadeBody(server: shop.server) {
      isSending.open()
      await isStarted.wait()
      return Data(try await handles.withLock { $0 }?.value.utf8 ?? "none".utf8)
    }
    let upload = Task { try await body.run() }
    await isSending.wait()
    let handle = shop.manager.start(CachedTask(path: "token").on(shop.server).retry(.fixed(retries: 1, delay: .zero)))
    handles.withLock { $0 = handle }
    #expect(await eventually { shop.manager.throttle.waiting == 1 })
    isStarted.open()
    #expect(try await upload.value.status == .ok)
  }
}
