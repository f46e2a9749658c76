import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct TaskWindowTests {
  private typealias Window = TaskWindow<Int, any Error>
  private struct Torn: Error {}

  /// Returns the reader's next step as text.
  private func next(_ window: inout Window) -> String {
    let hasStep = window.hasStep
    switch window.next() {
    case .outcome(let outcome): return "\(outcome)"
    case .wait: return hasStep ? "a step that is none" : "wait"
    case .failure(let error): return "\(type(of: error))"
    case .over: return "over"
    }
  }

  private func make(
    _ order: ResultOrder = .finished, limit: Int = 2, taking count: Int = 0,
    sourceFailure: Window.SourceFailure = .last, expected: Int = 0
  ) -> Window {
    var window = Window(limit: limit, order: order, sourceFailure: sourceFailure, expected: expected)
    for place in 0..<count { #expect(window.take() == place) }
    return window
  }

  @Test func `returns tasks as they finish`() {
    var window = make(taking: 3)
    #expect(next(&window) == "wait")
    window.finish(2, 2, isFailed: false)
    window.finish(0, 0, isFailed: false)
    #expect([next(&window), next(&window), next(&window)] == ["2", "0", "wait"])
  }

  @Test func `in submission order, an early result waits for earlier tasks`() {
    var window = make(.submitted, taking: 3)
    window.finish(2, 2, isFailed: false)
    window.finish(1, 1, isFailed: false)
    #expect(next(&window) == "wait")
    window.finish(0, 0, isFailed: false)
    #expect([next(&window), next(&window), next(&window), next(&window)] == ["0", "1", "2", "wait"])
  }

  @Test(arguments: [ResultOrder.finished, .submitted])
  func `allows up to twice the limit of undelivered tasks`(order: ResultOrder) {
    var window = make(order, taking: 3)
    #expect(window.hasRoom)
    _ = window.take()
    #expect(!window.hasRoom)
    for place in [3, 2, 1] { window.finish(place, place, isFailed: false) }
    #expect(!window.hasRoom, "a finished task still counts until it is delivered")
    window.finish(0, 0, isFailed: false)
    _ = window.next()
    #expect(window.hasRoom)
  }

  @Test func `ends when the source has ended and every result has been delivered`() {
    var window = make(taking: 1)
    window.endSource()
    #expect(!window.hasRoom && next(&window) == "wait")
    window.finish(0, 0, isFailed: false)
    #expect([next(&window), next(&window), next(&window)] == ["0", "over", "over"])
  }

  @Test func `by default, a source failure is reported last, and only once`() {
    var window = make(taking: 1)
    window.endSource(Torn())
    #expect(next(&window) == "wait")
    window.finish(0, 0, isFailed: false)
    #expect([next(&window), next(&window), next(&window)] == ["0", "Torn", "over"])
  }

  @Test func `with .first, a source failure is reported before the finished results`() {
    var window = make(taking: 2, sourceFailure: .first)
    window.finish(0, 0, isFailed: false)
    window.endSource(Torn())
    #expect([next(&window), next(&window)] == ["Torn", "over"])
  }

  @Test func `a closed window stores and reads nothing`() {
    var window = make(taking: 2)
    window.finish(0, 0, isFailed: false)
    window.close()
    window.finish(1, 1, isFailed: false)
    #expect(!window.hasRoom && window.isOver && next(&window) == "over")
  }

  @Test(arguments: [Int.min, -1, 0, 1]) func `treats a limit below one as one`(limit: Int) {
    #expect(make(limit: limit).limit == 1)
  }

  @Test func `supports the maximum limit`() {
    #expect(make(limit: .max, taking: 10).hasRoom)
  }

  @Test func `progress includes the total once it is known`() {
    var window = make(taking: 3)
    window.finish(1, 1, isFailed: true)
    #expect(window.progress == TaskBatchProgress(started: 3, finished: 1, failed: 1, total: nil))
    #expect(window.progress.running == 2 && window.progress.fraction == nil)
    #expect("\(window.progress)" == "1 finished, 2 under way, 1 failed")
    window.endSource()
    #expect("\(window.progress)" == "1 of 3 finished, 2 under way, 1 failed")
    window.finish(0, 0, isFailed: false)
    window.finish(2, 2, isFailed: false)
    #expect("\(window.progress)" == "3 of 3 finished, 1 failed" && window.progress.fraction == 1)
  }

  @Test func `reports the expected count until more tasks arrive than expected`() {
    var window = make(taking: 1, expected: 2)
    #expect(window.progress.total == 2 && window.progress.fraction == 0)
    for _ in 0..<2 { _ = window.take() }
    #expect(window.progress.total == 3)
  }

  @Test func `an empty batch is complete`() {
    var window = make()
    window.endSource()
    #expect(window.progress.total == 0 && window.progress.fraction == 1)
  }
}
