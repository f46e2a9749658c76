import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Verification hooks and the cache.
@Suite(.timeLimit(.minutes(1))) struct CacheVerificationTests {
  private struct SignedTask: PayloadDownloadingTask {
    typealias DownloadPayload = String
    var path: String { "widgets/7" }
    func verify(_ response: HTTPResponse) throws {
      guard response.headers["X-Signature"] == "good" else { throw Unsigned() }
    }
  }

  private struct Unsigned: Error {}

  private final class CutBody: HTTPBodySource {
    func next() async throws -> Data? { throw TaskError(.truncatedBody, "cut", phase: .receiving) }
  }

  @Test func `verifies a retry's response even if the first attempt's response was verified`() async throws {
    let shop = CachedShop(configure: { $0.retryPolicy = .fixed(retries: 1, delay: .zero) }) { number, request in
      guard number == 1 else { return .text("forged", [.cacheControl: "no-store"], for: request) }
      return HTTPResponse(
        url: request.url, headers: [.cacheControl: "max-age=60", "X-Signature": "good"],
        body: HTTPResponseBody(CutBody()))
    }
    await #expect(throws: Unsigned.self) { try await SignedTask().on(shop.server).download() }
    #expect(shop.sentCount == 2)
  }

  @Test func `a failed verification does not fail other calls that share the request`() async throws {
    let gate = Gate()
    let shop = CachedShop(configure: { $0.coalescesRequests = true }) { number, request in
      await gate.wait()
      return .text("\(number)", [.cacheControl: "max-age=60"], for: request)
    }
    let first = Task { try await SignedTask().on(shop.server).download() }
    #expect(await eventually { shop.sentCount == 1 })
    let second = Task { try await shop.get() }
    #expect(await eventually { shop.events.moments().count { $0.hasPrefix("joined") } == 2 })
    gate.open()
    await #expect(throws: Unsigned.self) { try await first.value }
    #expect(try await second.value.text == "1" && shop.sentCount == 1)
    #expect(await shop.cache.entries(for: .widget()).isEmpty, "a response that a hook rejects is not stored")
  }

  @Test func `verifies a response that a step takes from another call`() async throws {
    /// Returns another server's response for the same path.
    struct Other: PerAttemptStep {
      let server: Server
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        try await CachedTask(path: "widgets/7").on(server).run()
      }
    }
    let other = CachedShop([.cacheControl: "max-age=60"])
    let shop = CachedShop(configure: { $0.perAttemptSteps = [Other(server: other.server)] }) { _, request in
      .ok(request)
    }
    await #expect(throws: Unsigned.self) { try await SignedTask().on(shop.server).run() }
    #expect(other.sentCount == 1 && shop.sentCount == 0)
  }
}
