public import ErrandFoundation

/// The source of a response body's bytes; a transport hands it over with the head.
///
/// It has one reader, which reads one chunk at a time; the source makes the sender wait between reads.
public protocol HTTPBodySource: AnyObject, Sendable {
  /// The next chunk, never empty; nil at the end.
  /// Throws the error of the transfer, and `CancellationError` when the surrounding task is cancelled.
  func next() async throws -> Data?

  /// All that is left, as one piece; throws ``HTTPBodyLimitError`` past `limit` bytes.
  func collect(upTo limit: Int) async throws -> Data

  /// Ends reading; no read follows. Releases whatever carries the bytes at once. May be called more than once.
  func cancel()

  /// The fields after the body; empty until its end.
  var trailers: HTTPHeaders { get }

  /// The timings of the transfer; nil until its end, or where nothing was measured.
  var timings: TransferTimings? { get }
}

extension HTTPBodySource {
  /// Chunk after chunk until the end.
  public func collect(upTo limit: Int) async throws -> Data { try await collectPieces(upTo: limit) }

  func collectPieces(upTo limit: Int) async throws -> Data {
    guard var data = try await next() else { return Data() }
    while data.count <= limit, let chunk = try await next() { data.append(chunk) }
    guard data.count <= limit else { throw HTTPBodyLimitError(limit: limit) }
    return data
  }

  /// Does nothing: there is nothing to release.
  public func cancel() {}

  /// None.
  public var trailers: HTTPHeaders { [:] }

  /// Nothing was measured.
  public var timings: TransferTimings? { nil }
}

/// A loop over a body was left before its end, so that there is no more of it to read.
public struct HTTPBodyConsumedError: Error, Sendable {
  /// A body that was left.
  public init() {}
}

/// A body was longer than the caller that collected it allowed.
public struct HTTPBodyLimitError: Error, Sendable {
  /// The bytes that were allowed.
  public let limit: Int

  /// A limit that was passed.
  public init(limit: Int) { self.limit = limit }
}

extension HTTPBodyLimitError: CustomStringConvertible {
  /// The limit, and the remedy.
  public var description: String { "more than the \(limit) bytes that were allowed: allow more with upTo:" }
}
