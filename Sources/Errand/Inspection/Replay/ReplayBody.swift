import ErrandFoundation

/// The body of a request as it is compared and recorded.
enum ReplayBody: Sendable {
  case data(Data)
  /// One that is not read before it is sent, for the reason given.
  case unread(String)

  /// Reads the body where it is to be compared; one in memory is there anyway.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - reads: Whether files and streams are read, those that can be read again.
  ///   - limit: The most bytes that are kept of them.
  init(of request: HTTPRequest, reads: Bool, limit: Int) async throws {
    let body = request.body
    if body.isEmpty || body.data != nil {
      self = .data(body.data ?? Data())
    } else if !body.isReplayable {
      self = .unread("it can be read only once")
    } else if !reads {
      self = .unread("<a body that is read as it is sent>")
    } else {
      let read = Lock(Data())
      try await body.readChunks { chunk in
        read.withLock { if $0.count <= limit { $0.append(chunk) } }
      }
      let data = read.withLock { $0 }
      self = data.count <= limit ? .data(data) : .unread("it has more than \(limit) bytes")
    }
  }

  /// The body for comparison, secrets hidden.
  func compared(type: MediaType?, _ redaction: Redaction) -> ReplayRequest.Body {
    switch self {
    case .data(let data): ReplayRequest.Body(data, type: type, redaction: redaction)
    case .unread(let reason): .unknown(reason)
    }
  }
}

/// The body of a response that is kept while its reader reads it.
final class ReplayTee: HTTPBodySource {
  private struct State {
    var data = Data()
    var size = 0
    var hasEnded = false

    /// Ends it, once; returns what there is.
    mutating func end() -> State? {
      guard !hasEnded else { return nil }
      defer { self = State(hasEnded: true) }
      return self
    }
  }

  private let body: HTTPResponseBody
  private let limit: Int
  /// True for a response that counts without all of its body, as that of a redirect, or one that is refused.
  private let keepsPart: Bool
  private let state = Lock(State())
  /// Takes the body, its size, which may be more than is kept, and whether it was read to its end.
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
      _ = state.withLock { $0.end() }  // what failed is not recorded
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
