import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// An unsafe request invalidates older responses even if a step returns another response.
@Suite(.timeLimit(.minutes(1))) struct StepInvalidationTests {
  /// Returns a copy of the response.
  private struct CopiedResponse: PerCallStep, PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      return HTTPResponse(
        response.status, url: response.url, headers: response.headers,
        body: HTTPResponseBody(try await response.body.collect()))
    }
  }

  /// After a PUT, sends a status request and returns its response.
  private struct StatusAfterPUT: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      guard request.method == .put else { return response }
      var status = request
      (status.method, status.body, status.url) = (.get, .empty, .known("https://shop.test/status"))
      return try await next(status)
    }
  }

  enum Returned: CaseIterable {
    case response, copy, status

    var steps: [any PerAttemptStep] {
      switch self {
      case .response: []
      case .copy: [CopiedResponse()]
      case .status: [StatusAfterPUT()]
      }
    }
  }

  @Test(arguments: Returned.allCases)
  func `a PUT removes the cached response, regardless of the response that a step returns`(
    returned: Returned
  ) async throws {
    let shop = CachedShop(
      configure: { $0.perAttemptSteps = returned.steps },
      answer: { number, request in
        .text("\(number)", request.method == .get ? [.cacheControl: "max-age=600"] : [:], for: request)
      })
    var configuration = ServerConfiguration()
    configuration.cache = shop.cache
    configuration.userAgent = "tests"
    configuration.log = .discard
    // Stores a response without using the step.
    let plain = Server(
      "https://shop.test", configuration: configuration, transport: shop.server.transport,
      manager: shop.server.manager, asDefault: false)
    #expect(try await CachedTask(path: "widgets/7").on(plain).download() == "1")
    _ = try await CachedTask(path: "widgets/7", httpMethod: .put).on(shop.server).download()
    let later = try await CachedTask(path: "widgets/7").on(plain).response()
    #expect(later.text != "1", "\(later.headers[.cacheStatus] ?? "")")
  }

  @Test func `a call after a PUT does not join an older request if a step copies the response`() async throws {
    let gate = Gate()
    let shop = CachedShop(
      configure: {
        ($0.coalescesRequests, $0.cache) = (true, nil)
        $0.perCallSteps = [CopiedResponse()]
      },
      answer: { number, request in
        if number == 1 { await gate.wait() }
        return .text("\(number)", for: request)
      })
    let old = Task { try await shop.task().download() }
    #expect(await eventually { shop.sentCount == 1 })
    _ = try await CachedTask(path: "widgets/7", httpMethod: .put).on(shop.server).download()
    let new = Task { try await shop.task().download() }
    #expect(
      await eventually { shop.sentCount == 3 || shop.events.moments().count { $0.hasPrefix("joined") } == 2 })
    gate.open()
    #expect(try await old.value == "1")
    #expect(try await new.value == "3")
  }
}
