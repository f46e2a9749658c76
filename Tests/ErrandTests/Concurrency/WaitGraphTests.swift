import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct WaitGraphTests {
  @Test func `finds indirect waits, even in a cycle`() {
    var graph = WaitGraph()
    graph.add([1], waitingFor: 2)
    graph.add([2, 3], waitingFor: 4)
    #expect(graph.reaches(1, [4]) && graph.reaches(3, [9, 4]) && graph.reaches(1, [1]))
    #expect(!graph.reaches(4, [1]) && !graph.reaches(1, [3]) && !graph.reaches(5, [1]))
    graph.add([4], waitingFor: 1)
    #expect(graph.reaches(4, [2]) && !graph.reaches(1, [9]))
  }

  @Test func `a wait that was added twice ends when it has been removed twice`() {
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
