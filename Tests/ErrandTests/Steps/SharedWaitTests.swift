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

  @Test(arguments: [false, true]) func `a body waits for what was started elsewhere`(byEvents: Bool) async throws {
    let shop = shop(perHost: 1)
    let (isSending, handles) = (Gate(), Shared<TaskHandle<String>?>(nil))
    let isStarted = Gate()
    let body = MadeBody(server: shop.server) {
      isSending.open()
      await isStarted.wait()
      guard let handle = handles.withLock({ $0 }) else { return Data() }
      if byEvents { for await _ in handle.events {} }
      return Data(try await handle.value.utf8)
    }
    let upload = Task { try await body.run() }
    await isSending.wait()
    let handle = shop.manager.start(CachedTask(path: "token").on(shop.server).retry(.fixed(retries: 1, delay: .zero)))
    handles.withLock { $0 = handle }
    #expect(await eventually { shop.manager.throttle.waiting == 1 })
    isStarted.open()
    #expect(try await upload.value.status == .ok)
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

  @Test func `what an attempt has left behind is awaited by nobody, and waits in line`() async throws {
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
    begin.open()
    #expect(await eventually { shop.manager.throttle.waiting == 1 })
    let urgent = Task { try await shop.task("urgent").priority(.urgent).run() }
    #expect(await eventually { shop.manager.throttle.waiting == 2 })
    mayEnd.open()
    _ = try await (held.value, urgent.value)
    #expect(await eventually { shop.manager.callCount == 0 })
    #expect(order.withLock { $0 } == ["outer", "held", "urgent", "left-behind"])
  }
}
