import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// `verify` with a cache.
@Suite(.timeLimit(.minutes(1))) struct CachedVerifyTests {
  private struct Forged: Error {}

  /// Creates a server whose second response, a 304 or the response to a HEAD request, has a forged signature.
  private func shop() -> CachedShop {
    CachedShop {
      $0.verify = { _, response in if response.headers["X-Signature"] != "good" { throw Forged() } }
    } answer: { number, request in
      func fields(_ age: Int, _ signature: String) -> HTTPHeaders {
        [.eTag: "\"1\"", .contentLength: "1", .cacheControl: "max-age=\(age)", "X-Signature": signature]
      }
      return number == 2
        ? .status(request.method == .head ? .ok : .notModified, headers: fields(3600, "forged"), for: request)
        : .text("\(number)", fields(0, "good"), for: request)
    }
  }

  @Test func `a 304 that verify rejects does not change the stored response`() async throws {
    let shop = shop()
    _ = try await shop.get()
    await #expect(throws: Forged.self) { try await shop.get() }
    #expect(try await shop.get().text == "3")
    #expect(shop.sentCount == 3)
  }

  @Test func `a HEAD response that verify rejects does not change the stored response`() async throws {
    let shop = shop()
    _ = try await shop.get()
    await #expect(throws: Forged.self) { try await shop.task().head() }
    #expect(try await shop.get().text == "3")
  }

  @Test func `verify is called once for a downloaded file that is also stored`() async throws {
    let count = Shared(0)
    let shop = CachedShop {
      $0.verify = { _, _ in count.withLock { $0 += 1 } }
    } answer: { _, request in
      .text("content", [.cacheControl: "max-age=60"], for: request)
    }
    try await withFolder { folder in
      _ = try await shop.task().download(to: folder.appendingPathComponent("file"))
    }
    #expect(count.withLock { $0 } == 1)
  }
}
