import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct WaitGraphTests {
  @Test func `finds waits through other queues, also in a cycle`() {
    var graph = WaitGraph()
    graph.add(["a"], waitingFor: "b")
    graph.add(["b", "c"], waitingFor: "d")
    #expect(graph.waits("a", for: "b") && graph.waits("a", for: "d") && graph.waits("c", for: "d"))
    #expect(!graph.waits("d", for: "a") && !graph.waits("a", for: "c") && !graph.waits("a", for: "a"))
    graph.add(["d"], waitingFor: "a")
    #expect(graph.waits("a", for: "a") && graph.waits("d", for: "b") && !graph.waits("a", for: "x"))
  }

  @Test func `a wait ends when each of its calls has stopped waiting`() {
    var graph = WaitGraph()
    for _ in 0..<2 { graph.add(["a"], waitingFor: "b") }
    graph.remove(["a"], waitingFor: "b")
    #expect(graph.waits("a", for: "b"))
    graph.remove(["a"], waitingFor: "b")
    graph.remove(["a"], waitingFor: "b")
    #expect(!graph.waits("a", for: "b"))
  }
}
