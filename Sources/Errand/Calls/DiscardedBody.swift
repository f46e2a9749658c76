import ErrandFoundation

/// A body that the caller doesn't need. A short one is kept for hooks. Reading a longer one throws.
final class DiscardedBody: HTTPBodySource {
  let size: Int
  /// The entire body, or `nil` if it is too long for hooks.
  private let kept: Data?
  /// The bytes to echo and record. Empty if the body is too long, `nil` if nothing is shown.
  let shown: Data?
  let trailers: HTTPHeaders
  let timings: TransferTimings?

  init(size: Int, kept: Data?, shown: Data?, of body: HTTPResponseBody) {
    (self.size, self.kept, self.shown) = (size, kept, shown)
    (trailers, timings) = (body.trailers, body.timings)
  }

  /// The body to return: the bytes, or this source.
  var body: HTTPResponseBody {
    kept.map { HTTPResponseBody($0, trailers: trailers, timings: timings) } ?? HTTPResponseBody(self)
  }

  func next() async throws -> Data? {
    throw TaskError(
      .bodyConsumed,
      "the body of \(size) bytes was discarded because the task has no payload: use response(), data() or stream()",
      phase: .finishing)
  }

  func cancel() {}
}
