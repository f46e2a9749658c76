import Errand

/// Waits for calls to join a shared request.
struct JoinWatch: TaskObserver {
  private let joined = AsyncStream.makeStream(of: Void.self)

  var delivery: ObserverDelivery { .inline }

  func observe(_ event: TaskEvent) {
    if case .joined = event.moment { joined.continuation.yield() }
  }

  /// Returns when `count` calls have joined.
  func wait(for count: Int) async {
    var calls = joined.stream.makeAsyncIterator()
    for _ in 0..<count { await calls.next() }
  }
}
