public import ErrandFoundation

/// The source of a response body, supplied by a transport with the response head.
///
/// A source has one reader, which reads one chunk at a time. Between reads, the source applies backpressure to the
/// sender.
public protocol HTTPBodySource: AnyObject, Sendable {
  /// Returns the next chunk, which is never empty, or `nil` at the end.
  ///
  /// Throws the transfer's error, or `CancellationError` if the current task is cancelled.
  func next() async throws -> Data?

  /// Reads the rest of the body. Throws ``HTTPBodyLimitError`` if the rest is longer than `limit` bytes.
  func collect(upTo limit: Int) async throws -> Data

  /// Ends reading and immediately releases the connection or file behind the source. The body isn't read after this
  /// call. This method can be called several times.
  func cancel()

  /// The trailer fields. Empty until the end of the body.
  var trailers: HTTPHeaders { get }

  /// The timings of the transfer. `nil` until the end of the body, or if nothing was measured.
  var timings: TransferTimings? { get }
}

extension HTTPBodySource {
  /// Reads chunks until the end.
  public func collect(upTo limit: Int) async throws -> Data { try await collectPieces(upTo: limit) }

  func collectPieces(upTo limit: Int) async throws -> Data {
    guard var data = try await next() else { return Data() }
    while data.count <= limit, let chunk = try await next() { data.append(chunk) }
    guard data.count <= limit else { throw HTTPBodyLimitError(limit: limit) }
    return data
  }

  /// Does nothing.
  public func cancel() {}

  /// No trailer fields.
  public var trailers: HTTPHeaders { [:] }

  /// No timings.
  public var timings: TransferTimings? { nil }
}

/// The error thrown when a body is read again after a loop over it was left early.
public struct HTTPBodyConsumedError: Error, Sendable {
  /// Creates the error.
  public init() {}
}

/// The error thrown when a body is longer than the limit passed to `collect(upTo:)`.
public struct HTTPBodyLimitError: Error, Sendable {
  /// The maximum number of bytes.
  public let limit: Int

  /// Creates the error.
  public init(limit: Int) { self.limit = limit }
}

extension HTTPBodyLimitError: CustomStringConvertible {
  /// The limit, and how to raise it.
  public var description: String { "the body exceeds the limit of \(limit) bytes: pass a higher limit (upTo:)" }
}
