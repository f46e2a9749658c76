import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// The record of a wait for a token.
@Suite(.timeLimit(.minutes(10))) struct RefreshWaitTests {
  @Test func `the end of a wait is noted behind its beginning, whoever is quicker`() async throws {
    let (gate, reached) = (DispatchSemaphore(value: 0), Counter())
    let noted = Shared<[String]>([])
    let wait = RefreshWait { moment in
      if case .refreshStarted = moment {
        reached.add()
        gate.wait()
      }
      noted.withLock { $0.append(moment.kind) }
    }
    let thread = Thread { wait.begin() }
    thread.start()
    await reached.reached(1)
    wait.end()
    gate.signal()
    #expect(await eventually { noted.withLock { $0.count } == 2 })
    #expect(noted.withLock { $0 } == ["refreshStarted", "refreshEnded"])
  }
}
