import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Redirects whose policy turns a GET into a POST, which must not be sent twice.
@Suite(.timeLimit(.minutes(1))) struct ChangedRedirectTests {
  private let posts = Counter()

  /// Answers `/pay` with a redirect to `/receipt`.
  private func answer(_ request: HTTPRequest) -> HTTPResponse? {
    guard request.url.path == "/pay" else { return nil }
    posts.add()
    return .status(.seeOther, headers: [.location: "/receipt"], for: request)
  }

  private static let paying = RedirectPolicy.decide { _, next in
    var next = next
    if next.url.path == "/pay" { (next.method, next.body) = (.post, .text("5")) }
    return next
  }

  private static func toPay(_ request: HTTPRequest) -> HTTPResponse {
    .status(.temporaryRedirect, headers: [.location: "/pay"], for: request)
  }

  @Test func `a 401 after a redirect that became a POST does not resend the request`() async throws {
    let shop = VirtualShop(configure: {
      $0.redirectPolicy = Self.paying
      $0.authentication = .bearer { "token" }
    }) { [self] _, request, _ in
      if let answer = answer(request) { return answer }
      return request.url.path == "/receipt" ? .status(.unauthorized, for: request) : Self.toPay(request)
    }
    let error = await taskError { try await shop.task("start").run() }
    #expect(error?.status == .unauthorized && error?.retryRefusal?.contains("POST is not idempotent") == true)
    #expect(posts.count == 1)
  }

  @Test func `a 304 after a redirect that became a POST does not resend the request`() async throws {
    let shop = CachedShop(configure: { $0.redirectPolicy = Self.paying }) { [self] number, request in
      if number == 1 { return .text("1", [.cacheControl: "max-age=0", .eTag: "\"a\""], for: request) }
      if let answer = answer(request) { return answer }
      return request.url.path == "/receipt"
        ? .status(.notModified, headers: [.eTag: "\"b\""], for: request) : Self.toPay(request)
    }
    _ = try await shop.get()
    #expect(await taskError { _ = try await shop.get() }?.code == .badResponse)
    #expect(posts.count == 1)
  }

  @Test func `a redirect that became a POST is not followed again in the background`() async throws {
    let shop = CachedShop(configure: { $0.redirectPolicy = Self.paying }) { [self] number, request in
      if number == 1 { return .text("1", [.cacheControl: "max-age=60"], for: request) }
      guard let answer = answer(request) else { return Self.toPay(request) }
      try await CallClock(ManualClock()).sleep(for: .seconds(1))  // forever
      return answer
    }
    _ = try await shop.get()
    let call = Task { try await shop.get("widgets/7", .networkFirst(limit: .seconds(3))).text }
    #expect(await eventually { posts.count == 1 })
    await shop.clock.sleepers(count: 1)
    shop.clock.advance(by: .seconds(3))
    #expect(try await call.value == "1")
    #expect(await eventually { shop.server.manager.callCount == 0 })
    #expect(posts.count == 1)
  }
}
