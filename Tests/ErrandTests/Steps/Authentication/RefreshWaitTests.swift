import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// How the wait for a token is recorded.
@Suite(.timeLimit(.minutes(1))) struct RefreshWaitTests {
  @Test func `records a wait's end after its start, even if the wait ends before the start is recorded`() async throws {
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

  /// An authenticator with a stored token.
  private final class StoredToken: Authenticator {
    /// Called when the freshness is first checked.
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
    func refresh(_ token: Int?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> Int? { nil }
  }

  @Test func `a call made while the stored token is being checked uses that token`() async throws {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
    let noted = Shared<[String]>([])
    let context = RefreshContext(
      WallClock(CallClock(ManualClock())), transmit: { _, _, _ in throw CancellationError() }, complaint: { _ in },
      redaction: .standard)
    let attempt = SigningAttempt(
      kept: HTTPRequest(.get, .known("https://shop.test")), context: context,
      note: { moment in noted.withLock { $0.append(moment.kind) } })
    let request = HTTPRequest(.get, try #require(URL(string: "https://shop.test")))
    let method = StoredToken()
    let coordinator = CredentialRegistry(method, TokenOwner(), key: "")
    let second = Shared<Task<Int?, any Error>?>(nil)
    method.lookedAt.withLock {
      $0 = {
        // Detached so that this call is not part of the refresh.
        let task = Task.immediateDetached { try await coordinator.sign(request, refused: nil, for: attempt)?.version }
        second.withLock { $0 = task }
      }
    }
    #expect(try await coordinator.sign(request, refused: nil, for: attempt)?.version == 1)
    let version = try await second.withLock { $0 }?.value
    #expect(version == 1 && noted.withLock { $0 }.isEmpty)
  }

  /// Runs `first` during the first refresh and throws `failure` for the first request.
  private final class FirstToken: Authenticator {
    private let (asked, applied) = (Counter(), Counter())
    private let first: @Sendable () async throws -> Void
    private let failure: TaskError?

    init(failure: TaskError? = nil, first: @escaping @Sendable () async throws -> Void = {}) {
      (self.failure, self.first) = (failure, first)
    }

    func storedToken() async throws -> Int? { nil }
    func freshness(of token: Int, at now: Date) -> TokenFreshness { .good }

    func apply(_ token: Int, to request: inout HTTPRequest) throws {
      applied.add()
      if let failure, applied.count == 2 { throw failure }  // the first `apply` only checks the new token
    }

    func refresh(_ token: Int?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> Int? {
      asked.add()
      if asked.count == 1 { try await first() }
      return asked.count
    }
  }

  /// Resends a request that fails.
  private struct Again: PerCallStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      do { return try await next(request) } catch { return try await next(request) }
    }
  }

  @Test func `retries after a 503 when a step resends a call whose token can't be applied`() async throws {
    let stub = StubServer(.status(503), .status(.ok)) { configuration in
      configuration.perCallSteps = [Again()]
      configuration.authentication = .custom(
        FirstToken(failure: TaskError(.authenticationFailed, "the token cannot be read", phase: .preparing)))
    }
    let response = try await PlainTask().on(stub.server).retry(.fixed(retries: 2, delay: .zero)).run()
    #expect(response.status == .ok && stub.requests.count == 2)
  }

  @Test func `the error of a request resent by a step does not contain the first retry refusal`() async throws {
    struct AgainAsGet: PerCallStep {
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        do { return try await next(request) } catch {
          var request = request
          request.method = .get
          return try await next(request)
        }
      }
    }
    let stub = StubServer(.lost, .status(404)) { $0.perCallSteps = [AgainAsGet()] }
    let error = try #require(await taskError { try await AddWidget().on(stub.server).run() })
    #expect(error.status == 404 && !"\(error)".contains("gave up"), "\(error)")
  }

  /// Limits an attempt to one second.
  private struct Second: PerAttemptStep {
    let clock: CallClock

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      try await clock.limiting(.seconds(1), .attempt, phase: .waiting) { try await next(request) }
    }
  }

  @Test func `retries an attempt that timed out while it waited for a token`() async throws {
    let clock = ManualClock()
    let stub = StubTransport { .status(.ok, for: $0) }
    var configuration = ServerConfiguration()
    configuration.perAttemptSteps = [Second(clock: CallClock(clock))]
    configuration.authentication = .custom(FirstToken { try await CallClock(clock).sleep(for: .milliseconds(1500)) })
    configuration.retryPolicy = .fixed(retries: 1, delay: .zero)
    let server = Server(
      "https://shop.test", configuration: configuration, transport: stub,
      manager: TaskManager(clock: CallClock(clock)), environment: [:])
    let call = Task { try await PlainTask().on(server).run() }
    await clock.pass(.seconds(1), sleepers: 2)
    #expect(try await call.value.status == .ok)
  }
}
