import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Calls that must not share a request with an earlier call.
@Suite(.timeLimit(.minutes(1))) struct SharedRequestTests {
  private let gate = Gate()

  private func joined(_ shop: CachedShop) -> Int { shop.events.moments().count { $0.hasPrefix("joined") } }

  @Test(arguments: [true, false])
  func `a call with its own Range header does not share the response to a call that uses range(_:)`(
    isRangedFirst: Bool
  ) async throws {
    let whole = String(repeating: "x", count: 100)
    let shop = CachedShop(
      configure: {
        ($0.coalescesRequests, $0.cache) = (true, nil)
        $0.maximumErrorBodySize = 10
      },
      answer: { [gate] _, request in
        await gate.wait()
        return .text(whole, for: request)
      })
    let ranged: Task<Void, any Error>? =
      isRangedFirst ? Task { _ = try await shop.task().range(ByteRange(0..<3)).download() } : nil
    if isRangedFirst { #expect(await eventually { joined(shop) == 1 }) }
    let other = Task { try await shop.task().header(.range, "bytes=0-2").download() }
    #expect(await eventually { joined(shop) >= (isRangedFirst ? 2 : 1) })
    gate.open()
    #expect(try await other.value == whole)
    _ = await ranged?.result
  }

  @Test func `a call made after a settings change does not share an earlier request`() async throws {
    let shop = CachedShop(
      configure: { ($0.coalescesRequests, $0.cache) = (true, nil) },
      answer: { [gate] number, request in
        if request.url.path.hasSuffix("7") {
          if number == 1 { await gate.wait() }
          return .status(302, headers: [.location: "https://evil.test/"], for: request)
        }
        return .text("followed", for: request)
      })
    let first = Task { try await shop.task().download() }
    #expect(await eventually { shop.sentCount == 1 })
    await shop.server.update { $0.redirectPolicy = .refuse }
    let second = Task { try await shop.task().download() }
    #expect(await eventually { shop.sentCount == 2 || joined(shop) == 2 })
    gate.open()
    #expect(try await first.value == "followed")
    let error = await taskError { _ = try await second.value }
    let result = await second.result
    #expect(error?.status == 302, "\(result)")
  }

  @Test func `a retry of a shared request resends it without the hooks of a call that has ended`() async throws {
    let builds = Counter()
    let shop = CachedShop(
      configure: {
        ($0.coalescesRequests, $0.cache) = (true, nil)
        $0.retryPolicy = .fixed(retries: 1, delay: .seconds(5))
        $0.preflight = { _, request in
          builds.add()
          if builds.count > 2 { request.headers["X-Rebuilt"] = "yes" }
        }
      },
      answer: { number, request in
        number == 1 ? .unavailable(request) : .text(request.headers["X-Rebuilt"] ?? "no", for: request)
      })
    let first = Task { try await shop.task().download() }
    #expect(await eventually { shop.sentCount == 1 })
    let second = Task { try await shop.task().download() }
    #expect(await eventually { joined(shop) == 2 })
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    await shop.clock.pass(.seconds(5))
    #expect(try await second.value == "no")
    #expect(builds.count == 2, "the request of each call was built once")
  }

}
