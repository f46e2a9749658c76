import Testing

@testable import Errand
@testable import ErrandTesting

@Suite(.timeLimit(.minutes(1))) struct EventBalanceTests {
  /// Returns the problems reported for a call with these events.
  private func problems(_ moments: CallMoment...) -> [String] {
    var balance = EventBalance()
    for moment in moments {
      balance.note(TaskEvent(call: 1, task: "GetWidget", time: .zero, moment: moment, context: TaskContext()))
    }
    #expect(balance.isBalanced == balance.problems.isEmpty)
    return balance.problems
  }

  private let end = CallMoment.callEnded(.cancelled)
  private let attemptEnded = CallMoment.attemptEnded(1, AttemptRecord(number: 1))

  @Test func `a call is balanced if each of its phases starts and ends once`() {
    #expect(
      problems(
        .callStarted, .turnWaitStarted(queue: "a"), .turnWaitEnded, .attemptStarted(1), .queued,
        .admitted(after: .zero), .refreshStarted, .refreshEnded, attemptEnded, .delayStarted(.zero, reason: ""),
        .delayEnded, end) == [])
    #expect(problems(.callStarted, .queued, .queued, .leftQueue(after: .zero), .admitted(after: .zero), end) == [])
  }

  @Test func `reports an event that does not end, ends twice or arrives too late`() {
    #expect(problems(.callStarted) == ["call 1: the call has not ended"])
    #expect(problems(.callStarted, .attemptStarted(1), end) == ["call 1: attempt 1 was still open when the call ended"])
    #expect(
      problems(.callStarted, .attemptStarted(1), attemptEnded, attemptEnded, end) == [
        "call 1: attempt 1 ended more often than it started"
      ])
    #expect(
      problems(.callStarted, .attemptStarted(1), attemptEnded, .attemptStarted(1), attemptEnded, end) == [
        "call 1: attempt 1 started twice"
      ])
    #expect(problems(.callStarted, end, .decoded) == ["call 1: 'decoded' was reported after the call ended"])
    #expect(problems(.callStarted, end, end) == ["call 1: 'call cancelled' was reported after the call ended"])
    #expect(problems(end) == ["call 1: the call ended more often than it started"])
  }
}
