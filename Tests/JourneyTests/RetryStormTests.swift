import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.balancedEvents, .timeLimit(.minutes(3))) struct RetryStormTests {
  @Test func `sends a server that only returns 503 at most 1.2 requests per call plus a reserve`() async throws {
    let shop = try Shop(limits: ThrottleLimits(perHost: 16)) {
      $0.retryPolicy = .fixed(retries: 5, delay: .milliseconds(1))
    }
    shop.mock.route("/down", answer: .status(503))
    let offered = 500
    let (failures, explained) = await withTaskGroup(of: (Bool, Bool).self) { group in
      for _ in 0..<offered {
        group.addTask {
          do {
            try await PlainTask(path: "down").on(shop.server).run()
            return (false, false)
          } catch {
            return ((error as? TaskError)?.status == 503, "\(error)".contains("the retry budget for 127.0.0.1"))
          }
        }
      }
      return await group.reduce(into: (0, 0)) { counts, result in
        counts = (counts.0 + (result.0 ? 1 : 0), counts.1 + (result.1 ? 1 : 0))
      }
    }
    #expect(failures == offered)
    let most = Int(Double(offered) * 1.2) + RetryBudget.standard.capacity
    #expect(shop.mock.requestCount <= most, "\(shop.mock.requestCount) requests for \(offered) calls")
    #expect(shop.mock.requestCount > offered, "no call was retried")
    #expect(explained > offered / 2, "\(explained) errors say that the retry budget was exhausted")
  }
}
