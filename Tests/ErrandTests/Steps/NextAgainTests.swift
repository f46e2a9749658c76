import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Steps that call `next` twice or replace the response.
@Suite(.timeLimit(.minutes(1))) struct NextAgainTests {
  /// Resends a request after a 401.
  private struct Renewal: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      guard response.status == 401 else { return response }
      var request = request
      request.headers["X-Token"] = "new"
      let second = try await next(request)
      withExtendedLifetime(response) {}  // keep the response alive, as a debug build does
      return second
    }
  }

  /// Keeps every response and returns a different one.
  private final class Hoarder: PerAttemptStep {
    let kept = Shared<[HTTPResponse]>([])
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      kept.withLock { $0.append(response) }
      return .json("[1]", for: request)
    }
  }

  /// A body that never ends.
  private final class Endless: HTTPBodySource {
    func next() async throws -> Data? {
      try await Task.sleep(for: .seconds(3600))
      return nil
    }
  }

  private func endless(_ status: HTTPStatus, for request: HTTPRequest) -> HTTPResponse {
    HTTPResponse(status, url: request.url, body: HTTPResponseBody(Endless()))
  }

  @Test func `a step that calls next again releases the previous response`() async throws {
    let shop = VirtualShop(
      limits: ThrottleLimits(perHost: 4, streamsPerHost: 4), configure: { $0.perAttemptSteps = [Renewal()] },
      answer: { _, request, _ in
        request.headers["X-Token"] == nil ? self.endless(401, for: request) : .ok(request)
      })
    let calls = (0..<4).map { _ in Task { try await shop.task().accepting(.all).stream() } }
    for call in calls {
      let response = try await call.value
      #expect(response.status == 200)
      response.body.cancel()
    }
    #expect(shop.sentCount == 8 && shop.manager.runningCount == 0 && shop.manager.throttle.streams == 0)
  }

  @Test func `a step that replaces a response releases the original`() async throws {
    let hoarder = Hoarder()
    let shop = VirtualShop(
      limits: ThrottleLimits(perHost: 1, streamsPerHost: 1), configure: { $0.perAttemptSteps = [hoarder] },
      answer: { _, request, _ in self.endless(200, for: request) })
    for _ in 0..<3 { #expect(try await shop.task().stream().status == .ok) }
    #expect(hoarder.kept.withLock { $0.count } == 3 && shop.manager.throttle.streams == 0)
  }

  /// Responds without sending the request.
  private struct Answering: PerCallStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      HTTPResponse(url: request.url, body: HTTPResponseBody(Data(count: 2000)))
    }
  }

  @Test func `maximumBodySize applies to a step's own response`() async throws {
    let shop = VirtualShop {
      $0.perCallSteps = [Answering()]
      $0.maximumBodySize = 1000
    } answer: { _, request, _ in
      .ok(request)
    }
    let error = await #expect(throws: TaskError.self) { try await shop.task().downloadData() }
    #expect(error?.code == .bodyTooLarge)
    #expect(try await shop.task().run().status == 200, "a discarded body can have any size")
  }

  /// A body that downloads its only chunk from the same server.
  private final class Asking: HTTPBodySource {
    let task: Modified<ShopTask>
    let isDone = Shared(false)

    init(_ task: Modified<ShopTask>) { self.task = task }

    func next() async throws -> Data? {
      guard !isDone.withLock({ $0 }) else { return nil }
      isDone.withLock { $0 = true }
      return try await task.downloadData()
    }
  }

  /// Replaces the body of `outer` with one that runs another task.
  private final class Replacing: PerAttemptStep {
    let inner = Shared<Modified<ShopTask>?>(nil)

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      var response = try await next(request)
      guard request.url.path == "/outer", let task = inner.withLock({ $0 }) else { return response }
      response.body = HTTPResponseBody(Asking(task))
      return response
    }
  }

  @Test func `a response body set by a step can run a task that needs the only slot`() async throws {
    let step = Replacing()
    let shop = VirtualShop(limits: ThrottleLimits(perHost: 1)) {
      $0.perAttemptSteps = [step]
    } answer: { _, request, _ in
      .json(request.url.path, for: request)
    }
    step.inner.withLock { $0 = shop.task("inner") }
    #expect(try await shop.task("outer").downloadData() == Data("/inner".utf8))
    #expect(shop.manager.runningCount == 0)
  }
}
