public import Foundation

/// Where the bytes of a response body come from; what a transport hands over with the head.
///
/// One reader asks, one chunk at a time; the source makes the sender wait while nobody asks.
public protocol HTTPBodySource: Sendable {
  /// The next chunk, never empty; nil at the end.
  /// Throws what went wrong, and `CancellationError` when the surrounding task is cancelled.
  func next() async throws -> Data?

  /// All that is left, as one piece; throws ``HTTPBodyLimitError`` past `limit` bytes.
  func collect(upTo limit: Int) async throws -> Data

  /// Nobody will ask again: whatever carries the bytes is to be let go at once. May be called more than once.
  func cancel()

  /// The fields after the body; empty until its end.
  var trailers: HTTPHeaders { get }

  /// What the transfer took; nil until its end, or where nothing was measured.
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

  /// Nothing to let go.
  public func cancel() {}

  /// None.
  public var trailers: HTTPHeaders { [:] }

  /// Nothing was measured.
  public var timings: TransferTimings? { nil }
}

/// A body was longer than whoever collected it allowed.
public struct HTTPBodyLimitError: Error, Sendable {
  /// The bytes that were allowed.
  public let limit: Int

  /// A limit that was passed.
  public init(limit: Int) { self.limit = limit }
}
