import Errand
import ErrandFoundation

/// A request body for comparison and recording.
enum ReplayBody: Sendable {
  case data(Data)
  /// A body that is not read before it is sent, with the reason.
  case unread(String)

  /// Reads the body if it is in memory. If `reads` is `true`, also reads a file or stream that can be read more than
  /// once, up to `limit` bytes.
  init(of request: HTTPRequest, reads: Bool, limit: Int) async throws {
    let body = request.body
    if body.isEmpty || body.data != nil {
      self = .data(body.data ?? Data())
    } else if !body.isReplayable {
      self = .unread("it can be read only once")
    } else if !reads {
      self = .unread("<a body from a file or stream>")
    } else {
      let read = Lock(Data())
      try await body.readChunks { chunk in
        read.withLock { if $0.count <= limit { $0.append(chunk) } }
      }
      let data = read.withLock { $0 }
      self = data.count <= limit ? .data(data) : .unread("it has more than \(limit) bytes")
    }
  }

  func compared(type: MediaType?, _ redaction: Redaction) -> ReplayRequest.Body {
    switch self {
    case .data(let data): ReplayRequest.Body(data, type: type, redaction: redaction)
    case .unread(let reason): .unknown(reason)
    }
  }
}

/// A response body that is recorded as it is read.
final class ReplayTee: HTTPBodySource {
  private struct State {
    var data = Data()
    var size = 0
    var hasEnded = false

    /// Ends the recording. The first call returns what was read.
    mutating func end() -> State? {
      guard !hasEnded else { return nil }
      defer { self = State(hasEnded: true) }
      return self
    }
  }

  private let body: HTTPResponseBody
  private let limit: Int
  /// Whether a partial body is also recorded, as for a redirect or an unsuccessful response.
  private let keepsPart: Bool
  private let state = Lock(State())
  /// Receives the body (empty if too large), its size, whether it was read to the end, and the trailers.
  private let complete: @Sendable (_ data: Data, _ size: Int, _ isWhole: Bool, _ trailers: HTTPHeaders) -> Void

  init(
    _ body: HTTPResponseBody, limit: Int, keepsPart: Bool,
    complete: @escaping @Sendable (Data, Int, Bool, HTTPHeaders) -> Void
  ) {
    self.body = body
    self.limit = limit
    self.keepsPart = keepsPart
    self.complete = complete
  }

  func next() async throws -> Data? {
    let chunk: Data?
    do {
      chunk = try await body.next()
    } catch {
      _ = state.withLock { $0.end() }  // don't record a failed body
      throw error
    }
    let end = state.withLock { state -> State? in
      guard let chunk else { return state.end() }
      state.size += chunk.count
      if state.size <= limit { state.data.append(chunk) } else { state.data = Data() }
      return nil
    }
    if let end { complete(end.data, end.size, true, body.trailers) }
    return chunk
  }

  func cancel() {
    body.cancel()
    guard keepsPart, let end = state.withLock({ $0.end() }) else { return }
    complete(end.data, end.size, false, [:])
  }

  var trailers: HTTPHeaders { body.trailers }

  var timings: TransferTimings? { body.timings }
}
