import ErrandTesting
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(10))) struct TransferDeskTests {
  @Test func `the last state that is told is that of the end, whoever pauses and resumes meanwhile`() async throws {
    let stub = StubServer(.status(.ok))
    let plan = PlainTask(path: "x").on(stub.server).plan
    for number in 0..<4000 {
      let desk = TransferDesk("x")
      let states = desk.states()
      let others = (0..<2).map { _ in
        Task.detached {
          for _ in 0..<10 {
            _ = desk.pause()
            _ = desk.resume()
          }
        }
      }
      try await desk.run(plan) {
        desk.note(
          .running(TransferProgress(direction: .up, attempt: 1, completed: 0, total: nil, rate: nil, isFinished: false))
        )
      }
      for other in others { await other.value }
      var last: TransferState?
      for await state in states { last = state }
      guard case .finished = last else {
        Issue.record("the last of \(number) was \(String(describing: last))")
        return
      }
    }
  }
}
