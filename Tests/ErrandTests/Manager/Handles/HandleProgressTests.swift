@testable import Errand
import Testing

@Suite(.timeLimit(.minutes(1))) struct HandleProgressTests {
  @Test func `a call is waiting before and between attempts`() {
    var progress = HandleProgress()
    #expect(progress.state == .waiting)
    let moments: [(CallMoment, TaskHandleState)] = [
      (.callStarted, .waiting), (.attemptStarted(1), .running), (.queued, .waiting),
      (.admitted(after: .zero), .running), (.responded(503, isConnectionReused: false), .running),
      (.delayStarted(.seconds(1), reason: ""), .waiting), (.delayEnded, .waiting), (.attemptStarted(2), .running),
      (.decoded, .running), (.callEnded(.succeeded(nil)), .succeeded),
    ]
    for (moment, state) in moments {
      progress.note(moment)
      #expect(progress.state == state, "\(moment)")
    }
  }

  @Test func `a finished call remains finished`() {
    for (outcome, state) in [(CallOutcome.failed("x"), TaskHandleState.failed), (.cancelled, .cancelled)] {
      var progress = HandleProgress()
      progress.note(.callEnded(outcome))
      progress.note(.attemptStarted(1))
      #expect(progress.state == state)
      let changes = [progress.pause(), progress.resume()]
      #expect(changes == [false, false])
      #expect(progress.state.isOver)
    }
  }

  @Test func `pausing hides the running state until the call resumes or ends`() {
    var progress = HandleProgress()
    let changes = [progress.resume(), progress.pause(), progress.pause()]
    #expect(changes == [false, true, false])
    progress.note(.attemptStarted(1))
    #expect(progress.state == .paused && !progress.state.isOver)
    let isResumed = progress.resume()
    #expect(isResumed && progress.state == .running)
    let isPaused = progress.pause()
    #expect(isPaused)
    progress.note(.callEnded(.cancelled))
    let isResumedAgain = progress.resume()
    #expect(progress.state == .cancelled && !isResumedAgain)
  }

  @Test func `only a failed or cancelled call can be retried`() {
    var progress = HandleProgress()
    #expect(!progress.canBeRetried)
    let isPaused = progress.pause()
    #expect(isPaused && !progress.canBeRetried)
    for (outcome, canBeRetried) in [(CallOutcome.failed("x"), true), (.cancelled, true), (.succeeded(nil), false)] {
      var progress = HandleProgress()
      progress.note(.callEnded(outcome))
      #expect(progress.canBeRetried == canBeRetried)
    }
  }
}
