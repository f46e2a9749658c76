import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Bodies that a step reads before the call does.
@Suite(.timeLimit(.minutes(1))) struct StepBodyTests {
  /// Reads a part of the body, or all of it.
  private struct Reading: PerCallStep, PerAttemptStep {
    let isWhole: Bool

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      if isWhole {
        #expect(try await response.body.collect() == Data("[7]".utf8))
      } else {
        for try await _ in response.body { break }
      }
      return response
    }
  }

  @Test(arguments: [true, false], [true, false]) func `a typed call decodes a body that a step has read`(
    isPerCall: Bool, isWhole: Bool
  ) async throws {
    let shop = VirtualShop(
      configure: {
        let step = Reading(isWhole: isWhole)
        if isPerCall { $0.perCallSteps = [step] } else { $0.perAttemptSteps = [step] }
      }, answer: { _, request, _ in .json("[7]", for: request) })
    let task = Endpoint<Void, [Int]>.get("widgets").on(shop.server)
    #expect(try await task.download() == [7])
  }
}
