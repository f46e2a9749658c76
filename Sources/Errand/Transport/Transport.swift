/// How requests are carried: the one place that does network I/O.
///
/// A transport knows nothing of tasks, servers, retries, cookies, caches or redirects. It sends the request once
/// (``TransferOptions/mayRepeat`` names the exception), returns as soon as the head of the response is there, and lets
/// the body come at the reader's pace.
///
/// - It throws `CancellationError` when the surrounding task is cancelled, promptly, and lets the connection go.
/// - Everything else that it throws is a ``TaskError`` that says whether the request was surely not sent.
/// - It holds the timers `connect`, `firstByte`, `idle` and `attempt` of the request's options.
public protocol Transport: Sendable {
  /// Sends `request` and returns the head of the response, its body as it comes.
  func send(_ request: HTTPRequest) async throws -> HTTPResponse
}
