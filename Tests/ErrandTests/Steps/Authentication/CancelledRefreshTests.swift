import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Token refreshes that are cancelled.
@Suite(.timeLimit(.minutes(1))) struct CancelledRefreshTests {
  /// A cancellation error from another HTTP client.
  private struct OwnCancellation: Error {}

  @Test func `a custom error from a cancelled refresh does not fail other calls`() async throws {
    let (begun, cancelled, may) = (Counter(), Counter(), Gate())
    let shop = VirtualShop(
      configure: {
        $0.authentication = .bearer {
          begun.add()
          guard begun.count <= 2 else { return "t" }
          await withTaskCancellationHandler {
            await may.wait()
          } onCancel: {
            cancelled.add()
          }
          throw OwnCancellation()
        }
      }, answer: { _, request, _ in .ok(request) })
    let only = Task { try await shop.task().run() }
    await begun.reached(1)
    only.cancel()
    await #expect(throws: CancellationError.self) { try await only.value }
    await cancelled.reached(1)
    // A call made before the cancelled refresh has ended waits for a new refresh.
    let meanwhile = Task { try await shop.task().run().status }
    #expect(await eventually { shop.moments(containing: "waiting for a new token").count == 2 })
    may.open()
    await #expect(throws: OwnCancellation.self) { try await meanwhile.value }
    #expect(begun.count == 2, "the second refresh failed with its own error")
    shop.clock.advance(by: .seconds(1))
    #expect(try await shop.task().run().status == .ok, "the pause was not doubled")
  }
}
