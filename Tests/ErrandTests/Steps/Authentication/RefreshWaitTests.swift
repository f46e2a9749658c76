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

  /// An authenticator that has a token stored.
  private final class StoredToken: Authenticator {
    /// Called when the token is looked at for the first time.
    let lookedAt = Shared<(@Sendable () -> Void)?>(nil)

    func storedToken() async throws -> Int? { 1 }

    func freshness(of token: Int, at now: Date) -> TokenFreshness {
      let lookedAt = lookedAt.withLock { action in
        defer { action = nil }
        return action
      }
      lookedAt?()
      return .good
    }

    func apply(_ token: Int, to request: inout HTTPRequest) {}
    func refresh(_ token: Int?, _ context: RefreshContext) async throws -> Int? { nil }
  }

  @Test func `a call that comes while the stored token is looked at waits for that one, and not for a new one`()
    async throws
  {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let noted = Shared<[String]>([])
    let context = RefreshContext(
      DatedClock(CallClock(ManualClock())), transmit: { _ in throw CancellationError() }, complaint: { _ in },
      redaction: .standard, awaited: { $0 })
    let attempt = SigningAttempt(
      yields: true, context: context, note: { moment in noted.withLock { $0.append(moment.kind) } }, release: {})
    let request = HTTPRequest(.get, try #require(URL(string: "https://shop.test")))
    let method = StoredToken()
    let desk = CredentialDesk(method)
    let second = Shared<Task<Int?, any Error>?>(nil)
    method.lookedAt.withLock {
      $0 = {
        let task = Task.immediate { try await desk.sign(request, refused: nil, for: attempt)?.version }
        second.withLock { $0 = task }
      }
    }
    #expect(try await desk.sign(request, refused: nil, for: attempt)?.version == 1)
    let version = try await second.withLock { $0 }?.value
    #expect(version == 1 && noted.withLock { $0 }.isEmpty)
  }
}
