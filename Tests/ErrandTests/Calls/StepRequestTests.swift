import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Requests that steps and redirect policies create keep the server's options.
@Suite(.timeLimit(.minutes(1))) struct StepRequestTests {
  /// Sends a new request to the same URL.
  private struct NewRequest: PerCallStep, PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      try await next(HTTPRequest(.get, request.url))
    }
  }

  @Test(arguments: [true, false]) func `a request created by a step keeps the server's options`(
    isPerCall: Bool
  ) async throws {
    let seen = Shared<TransferOptions?>(nil)
    let shop = VirtualShop(
      configure: {
        if isPerCall { $0.perCallSteps = [NewRequest()] } else { $0.perAttemptSteps = [NewRequest()] }
        $0.addressPolicy = .publicOnly
        $0.allowsExpensiveNetworkAccess = false
        $0.defaultTimeout = .seconds(7)
      },
      answer: { _, request, _ in
        seen.withLock { $0 = request.options }
        return .ok(request)
      })
    try await shop.task().run()
    let options = try #require(seen.withLock { $0 })
    #expect(!options.addressPolicy.allowsAll)
    #expect(!options.allowsExpensiveNetworkAccess)
    #expect(options.timeouts.attempt == .seconds(7))
  }

  @Test func `a request created by a redirect policy keeps the server's options`() async throws {
    let seen = Shared<[TransferOptions]>([])
    let shop = VirtualShop(
      configure: {
        $0.redirectPolicy = .decide { _, next in HTTPRequest(.get, next.url) }
        $0.addressPolicy = .publicOnly
        $0.defaultTimeout = .seconds(7)
      },
      answer: { number, request, _ in
        seen.withLock { $0.append(request.options) }
        return number == 1 ? .status(302, headers: [.location: "/b"], for: request) : .ok(request)
      })
    try await shop.task().run()
    let options = seen.withLock { $0 }
    #expect(options.map(\.addressPolicy.allowsAll) == [false, false])
    #expect(options.last?.timeouts.attempt != nil)
  }

  /// Sends a new request with the same URL and header fields.
  private struct CopiedRequest: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      try await next(HTTPRequest(.get, request.url, headers: request.headers))
    }
  }

  @Test(arguments: [false, true]) func `does not reach a forbidden address, even if a step creates the request`(
    isCreatedByStep: Bool
  ) async throws {
    let mock = try MockServer()
    defer { mock.stop() }
    mock.route(.get, "/widgets/7", answer: .text("secret"))
    let server = mock.client {
      $0.addressPolicy = .publicOnly
      if isCreatedByStep { $0.perAttemptSteps = [CopiedRequest()] }
    }
    let result = await Task { try await CachedTask(path: "widgets/7").on(server).download() }.result
    #expect((try? result.get()) == nil, "\(result)")
    #expect(mock.requestCount == 0)
  }
}
