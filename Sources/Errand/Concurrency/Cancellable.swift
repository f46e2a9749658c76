/// Something under way that can be told to end.
package protocol Cancellable: Sendable {
  /// Has it end, with `CancellationError` for whoever waits for it. May be called at any time, and more than once.
  func cancel()
}

extension Task: Cancellable {}
