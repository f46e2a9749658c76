import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// A step that sends more than once, or answers with another response than the one it got.
@Suite(.timeLimit(.minutes(10))) struct NextAgainTests {
  /// Sends again where the answer is a 401.
  private struct Renewal: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      guard response.status == 401 else { return response }
      var request = request
      request.headers["X-Token"] = "new"
      let second = try await next(request)
      withExtendedLifetime(response) {}  // as a step in a debug build keeps it
      return second
    }
  }

  /// Keeps every response that it sees, and answers another.
  private final class Hoarder: PerAttemptStep {
    let kept = Shared<[HTTPResponse]>([])
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      kept.withLock { $0.append(response) }
      return .json("[1]", for: request)
    }
  }

  /// A body that never ends by itself.
  private struct Endless: HTTPBodySource {
    func next() async throws -> Data? {
      try await Task.sleep(for: .seconds(3600))
      return nil
    }
  }

  private func endless(_ status: HTTPStatus, for request: HTTPRequest) -> HTTPResponse {
    HTTPResponse(status, url: request.url, body: HTTPResponseBody(Endless()))
  }

  @Test func `a step that calls next again releases the response before, slot and all`() async throws {
    let shop = VirtualShop(
      limits: ThrottleLimits(perHost: 4), configure: { $0.perAttemptSteps = [Renewal()] },
      answer: { _, request, _ in
        request.headers["X-Token"] == nil ? self.endless(401, for: request) : .ok(request)
      })
    let calls = (0..<4).map { _ in Task { try await shop.task().run() } }
    for call in calls { #expect(try await call.value.status == 200) }
    #expect(shop.sentCount == 8 && shop.manager.runningCount == 0)
  }

  @Test func `a step that returns another response releases the one that it got`() async throws {
    let hoarder = Hoarder()
    let shop = VirtualShop(
      limits: ThrottleLimits(perHost: 1), configure: { $0.perAttemptSteps = [hoarder] },
      answer: { _, request, _ in self.endless(200, for: request) })
    for _ in 0..<3 { #expect(try await shop.task().downloadData() == Data("[1]".utf8)) }
    #expect(hoarder.kept.withLock { $0.count } == 3 && shop.manager.runningCount == 0)
  }
}
