import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// The request in a response.
@Suite(.timeLimit(.minutes(1))) struct SentRequestTests {
  private struct Adding: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      var request = request
      request.headers["X-Step"] = "1"
      return try await next(request)
    }
  }

  @Test func `response.request is the request as sent, after steps, redirects and cookies`() async throws {
    let shop = VirtualShop(
      configure: {
        $0.perAttemptSteps = [Adding()]
        $0.cookiePolicy = .perServer
      },
      answer: { number, request, _ in
        number == 1 ? .status(302, headers: [.location: "/b", .setCookie: "a=1"], for: request) : .ok(request)
      })
    let request = try await shop.task().run().request
    #expect(request?.url.path == "/b" && request?.headers["X-Step"] == "1" && request?.headers[.cookie] == "a=1")
  }

  @Test func `a cached response has no request`() async throws {
    let shop = CachedShop(["Cache-Control": "max-age=60"])
    #expect(try await shop.task().run().request != nil)
    #expect(try await shop.task().run().request == nil)
  }
}
