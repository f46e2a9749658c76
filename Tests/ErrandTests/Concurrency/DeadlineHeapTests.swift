#if os(Linux)
  import Errand
  import ErrandTesting
  import Testing

  @testable import Errand

  @Suite(.timeLimit(.minutes(1))) struct DeadlineHeapTests {
    private final class Item: Timed {
      var heapIndex = -1
      var deadline: UInt64
      init(_ deadline: UInt64) { self.deadline = deadline }
    }

    @Test func `the first item is the earliest after any insert, update or removal`() {
      var random = SeededGenerator(seed: 1)
      var heap = DeadlineHeap<Item>()
      var present: [Item] = []
      for _ in 0..<5000 {
        switch Int.random(in: 0..<4, using: &random) {
        case 0, 1:
          let item = Item(.random(in: 0..<1000, using: &random))
          heap.insert(item)
          present.append(item)
        case 2:
          guard let item = present.randomElement(using: &random) else { continue }
          item.deadline = .random(in: 0..<1000, using: &random)
          heap.update(item)
        default:
          guard let index = present.indices.randomElement(using: &random) else { continue }
          heap.remove(present.remove(at: index))
        }
        #expect(heap.first?.deadline == present.map(\.deadline).min())
      }
    }

    @Test func `removing an absent item changes nothing`() {
      var heap = DeadlineHeap<Item>()
      let item = Item(1)
      heap.remove(item)
      heap.insert(item)
      heap.remove(item)
      heap.remove(item)
      #expect(item.heapIndex == -1)
      #expect(heap.first == nil)
    }
  }
#endif
