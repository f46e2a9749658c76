import Errand
import ErrandTesting
import Foundation
import Testing

/// `cancelAll()`, a deadline and the cancellation of the caller each end a call at any stage.
@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct CancelledAnywhereTests {
  enum Ending: CaseIterable { case cancelAll, caller, deadline }

  @Test(arguments: StuckCall.Moment.allCases, Ending.allCases)
  func `a call can be ended at any stage, and the next call succeeds`(moment: StuckCall.Moment, ending: Ending)
    async throws
  {
    // A delay that would exceed the deadline never starts.
    guard ending != .deadline || (moment != .delay && moment != .retryAfter) else { return }
    let stuck = try StuckCall(moment)
    let call = try await stuck.begin()
    switch ending {
    case .cancelAll: await stuck.server.manager.cancelAll()
    case .caller: call.cancel()
    case .deadline:
      await stuck.clock.sleepers(count: stuck.sleeperCount)
      stuck.clock.advance(by: StuckCall.deadline)
    }
    let error = await #expect(throws: (any Error).self) { try await call.value }
    if ending == .deadline {
      #expect((error as? TaskError)?.timer == .call, "\(moment): \(String(describing: error))")
    } else {
      #expect(error is CancellationError, "\(moment): \(String(describing: error))")
    }
    try await stuck.expectQuietShop()
  }
}
