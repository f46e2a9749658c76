/// Passes elements from many senders to one receiver, in order; a sender waits while `capacity` of them are not taken.
package final class BoundedChannel<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var isFinished = false
    var senders: [Int: UnsafeContinuation<Void, Never>] = [:]
    var nextSender = 0
    var receiver: UnsafeContinuation<Void, Never>?
  }

  private let capacity: Int
  private let state = Lock(State())

  package init(capacity: Int) { self.capacity = max(1, capacity) }

  /// Adds an element, and waits until there is room for the next. Elements sent after the end are dropped.
  package func send(_ element: Element) async {
    let receiver = state.withLock { state -> UnsafeContinuation<Void, Never>? in
      guard !state.isFinished else { return nil }
      state.elements.append(element)
      defer { state.receiver = nil }
      return state.receiver
    }
    receiver?.resume()
    await waitForRoom()
  }

  /// There will be no more; elements that were not taken still are.
  package func finish() {
    let (receiver, senders) = state.withLock { state in
      state.isFinished = true
      let waiting = (state.receiver, Array(state.senders.values))
      state.receiver = nil
      state.senders = [:]
      return waiting
    }
    receiver?.resume()
    for sender in senders { sender.resume() }
  }

  /// The next element; nil at the end, or when the surrounding task was cancelled.
  package func next() async -> Element? {
    while true {
      let (element, isOver, senders) = state.withLock { state in
        guard !state.elements.isEmpty else {
          return (Element?.none, state.isFinished, [UnsafeContinuation<Void, Never>]())
        }
        let element = state.elements.removeFirst()
        guard state.elements.count < capacity else { return (element, false, []) }
        let waiting = Array(state.senders.values)
        state.senders = [:]
        return (element, false, waiting)
      }
      for sender in senders { sender.resume() }
      if let element { return element }
      if isOver || Task.isCancelled { return nil }
      await waitForElement()
    }
  }

  private func waitForRoom() async {
    let number = state.withLock { state in
      state.nextSender += 1
      return state.nextSender
    }
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let mayGoOn = state.withLock { state in
          guard state.elements.count >= capacity, !state.isFinished, !Task.isCancelled else { return true }
          state.senders[number] = continuation
          return false
        }
        if mayGoOn { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.senders.removeValue(forKey: number) }?.resume()
    }
  }

  private func waitForElement() async {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        let mayGoOn = state.withLock { state in
          guard state.elements.isEmpty, !state.isFinished, !Task.isCancelled else { return true }
          state.receiver = continuation
          return false
        }
        if mayGoOn { continuation.resume() }
      }
    } onCancel: {
      let receiver = state.withLock { state in
        defer { state.receiver = nil }
        return state.receiver
      }
      receiver?.resume()
    }
  }
}
