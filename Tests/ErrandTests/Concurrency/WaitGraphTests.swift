import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct WaitGraphTests {
  @Test func `finds waits through other nodes, even in a cycle`() {
    var graph = WaitGraph()
    graph.add([1], waitingFor: 2)
    graph.add([2, 3], waitingFor: 4)
    #expect(graph.reaches(1, [4]) && graph.reaches(3, [9, 4]) && graph.reaches(1, [1]))
    #expect(!graph.reaches(4, [1]) && !graph.reaches(1, [3]) && !graph.reaches(5, [1]))
    graph.add([4], waitingFor: 1)
    #expect(graph.reaches(4, [2]) && !graph.reaches(1, [9]))
  }

  @Test func `a wait ends when each of its calls has stopped waiting`() {
    var graph = WaitGraph()
    for _ in 0..<2 { graph.add([1], waitingFor: 2) }
    graph.remove([1], waitingFor: 2)
    #expect(graph.reaches(1, [2]))
    graph.remove([1], waitingFor: 2)
    graph.remove([1], waitingFor: 2)
    #expect(graph.isEmpty)
  }

  @Test func `a node that has ended waits for nothing`() {
    var graph = WaitGraph()
    graph.add([1], waitingFor: 2)
    graph.end(1)
    #expect(!graph.reaches(1, [2]) && graph.isEmpty)
  }
}
