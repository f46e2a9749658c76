import ErrandTesting
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct CallLifeTests {
  private final class Work: Cancellable {
    let cancelled = Counter()
    func cancel() { cancelled.add() }
  }

  @Test func `cancels a running call's task once`() {
    var life = CallLife()
    let work = Work()
    let hasBegun = life.begin(work)
    #expect(hasBegun)
    let cancelled = life.cancel(.cancelled)
    let again = life.cancel(.deadline(.waiting))
    #expect(cancelled as? Work === work && again == nil)
    #expect(life.cause != nil && life.expired == nil, "the first cause is kept")
  }

  @Test func `a call cancelled before it runs neither starts nor returns a body`() {
    var life = CallLife()
    let cancelled = life.cancel(.deadline(.preparing))
    let (mayBegin, mayRead) = (life.begin(Work()), life.handOver(Work()))
    #expect(cancelled == nil && !mayBegin && !mayRead)
    #expect(life.expired == .preparing)
  }

  @Test func `cancelling a call cancels the body that the caller is reading`() {
    var life = CallLife()
    let (work, body) = (Work(), Work())
    let (mayBegin, mayRead) = (life.begin(work), life.handOver(body))
    let cancelled = life.cancel(.cancelled)
    #expect(mayBegin && mayRead && cancelled as? Work === body)
  }

  @Test func `a call ends only once and keeps its first cause`() {
    var life = CallLife()
    let work = Work()
    let hasBegun = life.begin(work)
    #expect(hasBegun)
    let (isFirst, held) = life.end()
    #expect(isFirst && held as? Work === work && life.cause == nil)
    let cancelled = life.cancel(.cancelled)
    #expect(cancelled == nil && life.cause == nil)
    let second = life.end()
    #expect(!second.isFirst)
    var expired = CallLife()
    _ = expired.cancel(.deadline(.waiting))
    let last = expired.end()
    #expect(last.isFirst && expired.expired == .waiting)
  }
}
