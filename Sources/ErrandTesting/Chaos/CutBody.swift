import Errand
import ErrandFoundation

/// A response body that fails partway through.
final class CutBody: HTTPBodySource {
  private let body: HTTPResponseBody
  private let part: Double
  private let isRead = Lock(false)

  init(_ body: HTTPResponseBody, after part: Double) { (self.body, self.part) = (body, part) }

  var trailers: HTTPHeaders { [:] }
  var timings: TransferTimings? { nil }

  func next() async throws -> Data? {
    let isFirst = isRead.withLock { isRead in
      defer { isRead = true }
      return !isRead
    }
    if isFirst {
      let whole = try await body.collect()
      let start = whole.prefix(Int(Double(whole.count) * part))
      if !start.isEmpty { return Data(start) }
    }
    throw TaskError(.truncatedBody, "the stub closed the connection before the end of the body", phase: .receiving)
  }

  func cancel() { body.cancel() }
}
