/// Something under way that can be told to end.
package protocol Cancellable: Sendable {
  /// Ends it; its waiters get `CancellationError`. May be called at any time, and more than once.
  func cancel()
}

extension Task: Cancellable {}
