import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Three thousand concurrent calls with an expired token.
@Suite(.timeLimit(.minutes(1))) struct TokenCrowdTests {
  private static let crowd = 3000

  private struct Refused: Error {}

  private func shop(_ tokens: NumberedTokens, perHost: Int = 64) -> VirtualShop {
    VirtualShop(
      limits: ThrottleLimits(perHost: perHost), budget: .standard,
      configure: {
        $0.authentication = .custom(tokens)
        $0.observers = []
      },
      answer: { _, request, _ in
        await Task.yield()
        return tokens.answer(request)
      })
  }

  /// Runs the calls concurrently and returns their results.
  private func results(_ shop: VirtualShop, cancelling: ((Int) -> Bool)? = nil) async -> [Result<HTTPStatus, any Error>]
  {
    await withTaskGroup(of: Result<HTTPStatus, any Error>.self) { group in
      for index in 0..<Self.crowd {
        let isCancelled = cancelling?(index) ?? false
        group.addTask {
          let call = Task { try await shop.task().run().status }
          if isCancelled {
            await giveWay(1)
            call.cancel()
          }
          return await call.result
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
  }

  @Test func `all calls succeed after one refresh within the standard retry budget`() async throws {
    let tokens = NumberedTokens(valid: 2)
    let shop = shop(tokens)
    let results = await results(shop)
    #expect(results.count { (try? $0.get()) == .ok } == Self.crowd)
    #expect(tokens.replaced == [1])
    #expect(shop.manager.callCount == 0 && shop.manager.runningCount == 0)
  }

  @Test func `a failed refresh fails every call with its error`() async throws {
    let tokens = NumberedTokens(valid: 2)
    tokens.fail(Refused())
    let shop = shop(tokens)
    let results = await results(shop)
    #expect(results.count == Self.crowd)
    for result in results { #expect(throws: Refused.self) { try result.get() } }
    #expect(tokens.replaced == [1] && shop.sentCount <= Self.crowd)
  }

  @Test func `cancelling every third caller does not affect the others`() async throws {
    let tokens = NumberedTokens(valid: 2)
    let shop = shop(tokens)
    let results = await results(shop) { $0 % 3 == 0 }
    let failures = results.compactMap { result in
      if case .failure(let error) = result { error } else { nil }
    }
    #expect(failures.allSatisfy { $0 is CancellationError } && failures.count <= Self.crowd / 3 + 1)
    #expect(results.count { (try? $0.get()) == .ok } == Self.crowd - failures.count)
    // If the last waiting caller is cancelled, the refresh is cancelled and another one follows. Only one refresh
    // provides a token.
    #expect(tokens.replaced == Array(repeating: 1, count: tokens.cancelled + 1))
    #expect(shop.manager.callCount == 0 && shop.manager.runningCount == 0)
  }
}
