/// A transport whose exchanges can be told to end by whoever holds them, without cancelling the task that awaits them.
package protocol CancellableTransport: Transport {
  /// Whether nothing else is waited for: no closure of the app's.
  var isCancellable: Bool { get }

  /// Sends `request` as `send(_:)` does.
  ///
  /// - Parameters:
  ///   - request: The request, which was checked.
  ///   - origin: Where it goes.
  ///   - begun: Takes, before anything is waited for, what ends the exchange, the reading of its body included.
  /// - Returns: The head of the response, its body as it comes.
  func send(
    _ request: HTTPRequest, to origin: Origin, begun: @Sendable (any Cancellable) -> Void
  ) async throws -> HTTPResponse
}
