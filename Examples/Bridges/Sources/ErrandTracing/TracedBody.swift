import Errand
import Foundation
import Tracing

/// A response body that ends a span.
final class TracedBody: HTTPBodySource {
  private let body: HTTPResponseBody
  private let lock = NSLock()
  /// The span until it is ended. Protected by the lock.
  private nonisolated(unsafe) var span: (any Span)?

  init(_ body: HTTPResponseBody, _ span: any Span) {
    self.body = body
    self.span = span
  }

  func next() async throws -> Data? {
    try await noting {
      let chunk = try await body.next()
      if chunk == nil { end() }
      return chunk
    }
  }

  func collect(upTo limit: Int) async throws -> Data {
    try await noting {
      let data = try await body.collect(upTo: limit)
      end()
      return data
    }
  }

  func cancel() {
    body.cancel()
    end()
  }

  var trailers: HTTPHeaders { body.trailers }
  var timings: TransferTimings? { body.timings }

  private func noting<Value>(_ read: () async throws -> Value) async throws -> Value {
    do {
      return try await read()
    } catch {
      end(error)
      throw error
    }
  }

  private func end(_ error: (any Error)? = nil) {
    let ending = lock.withLock {
      defer { span = nil }
      return span
    }
    if let error { ending?.note(error) }
    ending?.end()
  }
}
