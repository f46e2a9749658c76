import ErrandFoundation

/// The beginning of a body whose rest was not read. Reading past it throws, so it can't be mistaken for the
/// entire body.
final class Excerpt: HTTPBodySource {
  let all: Data
  private let data: Lock<Data>
  private let failure: any Error
  let trailers: HTTPHeaders
  let timings: TransferTimings?

  private init(_ data: Data, _ failure: any Error, of body: HTTPResponseBody) {
    all = data
    self.data = Lock(data)
    self.failure = failure
    (trailers, timings) = (body.trailers, body.timings)
  }

  /// Returns a body of the data that was read from `body`, which may be an excerpt itself.
  static func body(_ data: Data, of body: HTTPResponseBody) -> HTTPResponseBody {
    let known = body.source as? Excerpt
    guard known != nil || !body.isComplete else {
      return HTTPResponseBody(data, trailers: body.trailers, timings: body.timings)
    }
    let failure = known?.failure ?? body.failure ?? HTTPBodyLimitError(limit: data.count)
    return HTTPResponseBody(Excerpt(data, failure, of: body))
  }

  func next() async throws -> Data? {
    let data = data.withLock { data in
      defer { data = Data() }
      return data
    }
    if data.isEmpty { throw failure }
    return data
  }

  func cancel() {}
}
