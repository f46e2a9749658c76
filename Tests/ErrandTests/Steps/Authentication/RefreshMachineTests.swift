import Testing

@testable import Errand

/// The state machine of a token refresh, without any calls.
@Suite(.timeLimit(.minutes(1))) struct RefreshMachineTests {
  private struct Failure: Error {}

  /// This is a class because `#expect` can't call mutating methods.
  private final class Bench {
    var machine = RefreshMachine<String>()
    func leave(_ id: Int) -> Bool { machine.leave(id) }
    func succeeded(_ token: String, isNew: Bool, at now: Duration) -> [Int] {
      machine.succeeded(token, isNew: isNew, at: now)
    }
  }

  private let bench = Bench()

  private func word(_ demand: RefreshMachine<String>.Demand) -> String {
    switch demand {
    case .use(let token): "\(token.token) \(token.version)"
    case .none: "none"
    case .fail: "fail"
    case .wait: "wait"
    case .begin: "begin"
    }
  }

  private func demand(beyond version: Int, known: Int = 0, id: Int = 0, at now: Duration = .zero) -> String {
    word(bench.machine.demand(beyond: version, known: known, id: id, at: now))
  }

  @Test func `the first caller starts a refresh, and all waiting callers receive its token`() {
    #expect(demand(beyond: 0, id: 1) == "begin")
    #expect(demand(beyond: 0, id: 2) == "wait")
    #expect(bench.succeeded("a", isNew: false, at: .zero) == [1, 2])
    #expect(demand(beyond: 0) == "a 1")
  }

  @Test func `a call rejected with an older token needs no refresh`() {
    _ = demand(beyond: 0)
    _ = bench.machine.succeeded("a", isNew: false, at: .zero)
    #expect(demand(beyond: 1) == "begin")
    _ = bench.machine.succeeded("b", isNew: true, at: .zero)
    bench.machine.refused(1)
    #expect(!bench.machine.isRefused && demand(beyond: 1) == "b 2")
  }

  @Test func `the refresh is cancelled only when its last caller is cancelled`() {
    _ = demand(beyond: 0, id: 1)
    _ = demand(beyond: 0, id: 2)
    #expect(!bench.leave(1))
    #expect(bench.leave(2) && bench.machine.isCancelled)
    #expect(!bench.leave(2), "a caller can leave only once")
  }

  @Test func `a caller arriving during a cancelled refresh waits for the next refresh`() {
    _ = demand(beyond: 0, id: 1)
    _ = bench.machine.leave(1)
    #expect(demand(beyond: 0, id: 2) == "wait")
    guard case .beginAgain = bench.machine.failed(CancellationError(), at: .zero) else {
      Issue.record("no refresh started for the second caller")
      return
    }
    #expect(bench.succeeded("a", isNew: false, at: .zero) == [2])
  }

  @Test func `after a transient failure, only a caller without a usable token starts another refresh`() {
    func status(_ status: HTTPStatus?) -> TaskError {
      var error = TaskError(.authenticationFailed, "refused", phase: .authenticating)
      error.status = status
      return error
    }
    let lost = TaskError(.connectionLost, "lost", phase: .awaitingResponse)
    let failures: [(any Error, String)] = [
      (lost, "begin"), (status(503), "begin"), (status(500), "begin"), (status(408), "begin"), (status(429), "fail"),
      (status(400), "fail"), (status(nil), "fail"), (Failure(), "fail"),
    ]
    for (error, expected) in failures {
      var machine = RefreshMachine<String>()
      _ = machine.demand(beyond: 0, known: 0, id: 1, at: .zero)
      _ = machine.failed(error, at: .zero)
      #expect(word(machine.demand(beyond: 0, known: 0, id: 2, at: .zero)) == "fail", "started before the failure")
      #expect(word(machine.demand(beyond: 0, known: 1, isUrgent: false, id: 3, at: .zero)) == "fail", "\(error)")
      #expect(word(machine.demand(beyond: 0, known: 1, id: 4, at: .zero)) == expected, "\(error)")
    }
  }

  @Test func `an error from a cancelled refresh is not reported and causes no pause`() {
    _ = demand(beyond: 0, id: 1)
    _ = bench.machine.leave(1)
    guard case .notify(let none) = bench.machine.failed(Failure(), at: .zero) else {
      Issue.record("a refresh started although no caller is waiting")
      return
    }
    #expect(none == [] && bench.machine.failureCount == 0)
    #expect(demand(beyond: 0, id: 2) == "begin", "there is no pause")
    _ = bench.machine.leave(2)
    #expect(demand(beyond: 0, id: 3) == "wait")
    guard case .beginAgain = bench.machine.failed(Failure(), at: .zero) else {
      Issue.record("no refresh started for the third caller")
      return
    }
  }

  @Test func `keeps the token of a refresh that succeeds after being cancelled`() {
    _ = demand(beyond: 0, id: 1)
    _ = bench.machine.leave(1)
    #expect(bench.succeeded("a", isNew: false, at: .zero) == [])
    #expect(demand(beyond: 0, id: 2) == "a 1")
  }

  @Test
  mutating func `a failed refresh fails all callers that started before the failure and delays the next refresh`() {
    _ = demand(beyond: 0, id: 1)
    _ = demand(beyond: 0, id: 2)
    guard case .notify(let ids) = bench.machine.failed(Failure(), at: .zero) else { return }
    #expect(ids == [1, 2] && bench.machine.failureCount == 1)
    #expect(demand(beyond: 0, known: 1, at: .milliseconds(999)) == "fail", "the pause has not ended")
    #expect(demand(beyond: 0, known: 0, at: .seconds(600)) == "fail", "the caller started before the failure")
    #expect(demand(beyond: 0, known: 1, at: .seconds(1)) == "begin")
    _ = bench.machine.failed(Failure(), at: .seconds(1))
    #expect(demand(beyond: 0, known: 2, at: .milliseconds(2_999)) == "fail", "the second pause is twice as long")
    #expect(demand(beyond: 0, known: 2, at: .seconds(3)) == "begin")
    _ = bench.machine.succeeded("a", isNew: false, at: .seconds(3))
    #expect(demand(beyond: 0, known: 0) == "a 1", "a success ends the pause")
  }

  @Test func `the pause after a failed refresh doubles up to a minute`() {
    let pauses = [1, 2, 3, 4, 5, 6, 7, 8, 1000].map { RefreshMachine<String>.pause(after: $0) }
    #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60].map { .seconds($0) })
  }

  @Test func `waits before replacing a new token that is rejected immediately`() {
    _ = demand(beyond: 0)
    _ = bench.machine.succeeded("a", isNew: false, at: .zero)
    bench.machine.refused(1)
    #expect(demand(beyond: 1) == "begin", "the first token may be old")
    _ = bench.machine.succeeded("b", isNew: true, at: .zero)
    bench.machine.refused(2)
    #expect(demand(beyond: 2) == "none")
    #expect(demand(beyond: 2, at: .seconds(1)) == "begin", "after a second, the token may have been revoked")
    _ = bench.machine.succeeded("c", isNew: true, at: .seconds(1))
    bench.machine.refused(3)
    bench.machine.refused(3)
    #expect(demand(beyond: 3, at: .milliseconds(2_999)) == "none" && demand(beyond: 3, at: .seconds(3)) == "begin")
  }

  @Test func `immediately replaces an accepted token that is rejected later`() {
    _ = demand(beyond: 0)
    _ = bench.machine.succeeded("a", isNew: true, at: .zero)
    bench.machine.accepted(1)
    bench.machine.refused(1)
    #expect(bench.machine.isRefused && demand(beyond: 1) == "begin")
  }

  @Test func `starts a new refresh after the token is forgotten`() {
    _ = demand(beyond: 0)
    _ = bench.machine.succeeded("a", isNew: false, at: .zero)
    bench.machine.forget()
    #expect(bench.machine.current == nil && demand(beyond: 0) == "begin")
    _ = bench.machine.succeeded("b", isNew: false, at: .zero)
    #expect(bench.machine.current?.version == 2, "versions are never reused")
  }

  @Test func `a closed machine fails every caller and discards the token of a running refresh`() {
    _ = demand(beyond: 0, id: 1)
    bench.machine.close()
    #expect(demand(beyond: 0, id: 2) == "fail")
    #expect(bench.succeeded("a", isNew: true, at: .zero) == [1])
    #expect(bench.machine.current == nil && demand(beyond: 0) == "fail")
  }

  @Test func `a closed machine does not start a cancelled refresh again`() {
    _ = demand(beyond: 0, id: 1)
    #expect(bench.leave(1) && demand(beyond: 0, id: 2) == "wait")
    bench.machine.close()
    guard case .notify(let ids) = bench.machine.failed(Failure(), at: .zero) else {
      Issue.record("the closed machine started another refresh")
      return
    }
    #expect(ids == [2])
  }
}
