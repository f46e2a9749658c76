/// A binary heap. Reading the smallest element takes constant time. Inserting and removing take logarithmic time.
struct MinHeap<Element: Comparable> {
  private var elements: [Element] = []

  var first: Element? { elements.first }
  var count: Int { elements.count }

  mutating func insert(_ element: Element) {
    elements.append(element)
    var index = elements.count - 1
    while index > 0, elements[index] < elements[(index - 1) / 2] {
      elements.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  @discardableResult
  mutating func removeFirst() -> Element? {
    guard let last = elements.popLast() else { return nil }
    guard let first = elements.first else { return last }
    elements[0] = last
    sink()
    return first
  }

  private mutating func sink() {
    var index = 0
    while true {
      let left = 2 * index + 1
      guard left < elements.count else { return }
      let right = left + 1
      let child = right < elements.count && elements[right] < elements[left] ? right : left
      guard elements[child] < elements[index] else { return }
      elements.swapAt(child, index)
      index = child
    }
  }
}
