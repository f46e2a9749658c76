import Dispatch

/// Delivers events to one observer, in order. Uses a dispatch queue unless the observer requests inline delivery.
///
/// Does not use a Swift task, because a blocking observer would occupy one of the few threads that run calls.
package final class ObserverQueue: Sendable {
  private struct State {
    var events: [TaskEvent] = []
    var isBusy = false
  }

  /// The maximum number of queued events, not counting events that are being delivered. The last queued event is always
  /// the newest, so that the observer receives the end of a call.
  package static let capacity = 1000

  private let observer: any TaskObserver
  let interest: ObserverInterest
  let wantsProgress: Bool
  let traceSampling: TraceSampling
  private let state = Lock(State())
  private let queue: DispatchQueue?

  package init(_ observer: any TaskObserver) {
    self.observer = observer
    interest = observer.interest
    wantsProgress = observer.wantsProgress
    traceSampling = observer.traceSampling
    queue = observer.delivery == .queued ? DispatchQueue(label: "errand.observer") : nil
  }

  func notify(_ event: TaskEvent) {
    guard let queue else { return observer.observe(event) }
    let begins = state.withLock { state in
      let last = Self.capacity - 1
      guard state.events.count > last else {
        state.events.append(event)
        defer { state.isBusy = true }
        return !state.isBusy
      }
      var event = event
      event.missed = state.events[last].missed + 1
      state.events[last] = event
      return false
    }
    if begins { queue.async { self.tellAll() } }
  }

  private func tellAll() {
    while true {
      let events = state.withLock { state in
        defer { state.events = [] }
        state.isBusy = !state.events.isEmpty
        return state.events
      }
      if events.isEmpty { return }
      for event in events { observer.observe(event) }
    }
  }
}
