#if os(Linux)
  protocol Timed: AnyObject {
    /// The element's index in the heap, or -1 if it is not in a heap.
    var heapIndex: Int { get set }
    /// The deadline. Call the heap's `update(_:)` after changing it.
    var deadline: UInt64 { get }
  }

  /// A binary heap ordered by deadline. Reading the first element takes constant time. Other operations take
  /// logarithmic time.
  struct DeadlineHeap<Element: Timed> {
    private(set) var elements: [Element] = []

    var first: Element? { elements.first }

    mutating func insert(_ element: Element) {
      element.heapIndex = elements.count
      elements.append(element)
      rise(from: element.heapIndex)
    }

    mutating func remove(_ element: Element) {
      let index = element.heapIndex
      guard index >= 0, index < elements.count, elements[index] === element else { return }
      element.heapIndex = -1
      let last = elements.removeLast()
      guard last !== element else { return }
      place(last, at: index)
      update(last)
    }

    /// Moves an element whose deadline has changed.
    mutating func update(_ element: Element) {
      rise(from: element.heapIndex)
      sink(from: element.heapIndex)
    }

    private mutating func place(_ element: Element, at index: Int) {
      elements[index] = element
      element.heapIndex = index
    }

    private mutating func rise(from start: Int) {
      var index = start
      let element = elements[index]
      while index > 0 {
        let parent = (index - 1) / 2
        guard element.deadline < elements[parent].deadline else { break }
        place(elements[parent], at: index)
        index = parent
      }
      place(element, at: index)
    }

    private mutating func sink(from start: Int) {
      var index = start
      let element = elements[index]
      while 2 * index + 1 < elements.count {
        var child = 2 * index + 1
        if child + 1 < elements.count, elements[child + 1].deadline < elements[child].deadline { child += 1 }
        guard elements[child].deadline < element.deadline else { break }
        place(elements[child], at: index)
        index = child
      }
      place(element, at: index)
    }
  }
#endif
