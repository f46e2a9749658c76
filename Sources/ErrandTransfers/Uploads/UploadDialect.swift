public import Errand
public import ErrandFoundation

/// A protocol for chunked uploads: ``TusUpload``, ``GoogleUpload``, ``IETFUpload``, or your own.
///
/// A dialect creates requests and interprets responses. ``ResumableUpload`` sends the requests, retries them and stores
/// the state.
public protocol UploadDialect: Sendable {
  /// The dialect's unique name, which is stored in journals.
  var name: String { get }
  /// The metadata sent when an upload starts. A change in the metadata starts a new upload. Defaults to none.
  var metadata: [String: String] { get }
  /// Whether an upload is finished when the server has received its last byte. If not, the last chunk must be marked.
  /// It is empty if no bytes are left.
  var endsWithLastByte: Bool { get }
  /// The algorithm for the digest of the entire content, which the last chunk carries
  /// (``UploadPiece/contentDigest``). Defaults to `nil`, which computes no digest.
  var contentChecksum: UploadChecksum? { get }
  /// Returns a request that asks for the server's features. It is sent to the task's URL before an upload starts. The
  /// default implementation returns `nil`, which sends no request.
  func inquiry() -> UploadRequest?
  /// Returns the checksum algorithm for the chunks, chosen from the response to ``inquiry()``. The default
  /// implementation returns `nil`, which sends no checksums.
  func checksum(by answer: UploadAnswer) -> UploadChecksum?
  /// Returns the request that starts an upload. It is sent to the task's URL.
  func begin(_ source: UploadSource) -> UploadRequest
  /// Returns the upload that the server has started. Throws `TaskError` with code `.badResponse` if the response does
  /// not describe an upload.
  func begun(_ answer: UploadAnswer) throws -> UploadSession
  /// Returns the request that queries an upload's position. It is sent to the session's location.
  func query(_ session: UploadSession) -> UploadRequest
  /// Returns the request that sends a chunk. It is sent to the session's location. ``ResumableUpload`` adds the chunk's
  /// bytes as the body.
  func send(_ piece: UploadPiece, of session: UploadSession) -> UploadRequest
  /// Returns the upload's position from the response to ``query(_:)`` or ``send(_:of:)``.
  ///
  /// - Parameters:
  ///   - answer: The response, with any status.
  ///   - piece: The chunk that was sent. `nil` if the request was a query.
  func position(_ answer: UploadAnswer, after piece: UploadPiece?) -> UploadPosition
  /// Returns the request that deletes an upload on the server, or `nil` if the protocol does not support deleting
  /// uploads. It is sent to the session's location.
  func cancel(_ session: UploadSession) -> UploadRequest?
}

extension UploadDialect {
  /// The default metadata, which is empty.
  public var metadata: [String: String] { [:] }
  /// `nil`, which computes no digest.
  public var contentChecksum: UploadChecksum? { nil }
  /// Returns `nil`, which sends no request.
  public func inquiry() -> UploadRequest? { nil }
  /// Returns `nil`, which sends no checksums.
  public func checksum(by answer: UploadAnswer) -> UploadChecksum? { nil }
}

/// The content to upload.
public struct UploadSource: Sendable, Hashable {
  /// The name of the file, without its folder.
  public let fileName: String
  /// The length in bytes. `nil` if it is not known yet.
  public let length: Int64?
  /// The media type.
  public let type: MediaType
}

/// An upload that the server has started.
public struct UploadSession: Codable, Sendable, Hashable {
  /// The URL that the chunks are sent to. It may be a secret.
  public var location: URL
  /// The granularity of the chunk size: the size of each chunk except the last must be a multiple of this number of
  /// bytes. Defaults to 1.
  public var granularity: Int
  /// The maximum size of a chunk in bytes. `nil` if the server sets no limit.
  public var largestPiece: Int?
  /// The minimum size in bytes of each chunk except the last. `nil` if the server sets no limit.
  public var smallestPiece: Int?
  /// The checksum algorithm for the chunks. `nil` if no checksums are sent.
  public internal(set) var checksum: UploadChecksum?

  /// Creates a session.
  public init(location: URL, granularity: Int = 1, largestPiece: Int? = nil, smallestPiece: Int? = nil) {
    self.location = location
    self.granularity = max(1, granularity)
    self.largestPiece = largestPiece
    self.smallestPiece = smallestPiece
  }
}

/// A chunk of the content.
public struct UploadPiece: Sendable, Hashable {
  /// The position of the first byte.
  public let offset: Int64
  /// The number of bytes. 0 for a final chunk that only ends the upload.
  public internal(set) var count: Int64
  /// Whether this is the last chunk.
  public internal(set) var isLast: Bool
  /// The total length, if this is the last chunk and the length was unknown when the upload started.
  public internal(set) var foundLength: Int64?
  /// The digest of the bytes, computed with the session's checksum algorithm. `nil` if no checksums are sent.
  public internal(set) var digest: Data?
  /// The digest of the entire content, if this is the last chunk and the dialect has a
  /// ``UploadDialect/contentChecksum``.
  public internal(set) var contentDigest: Data?
}

/// A request created by an ``UploadDialect``.
public struct UploadRequest: Sendable, Hashable {
  /// The body of a request that starts an upload.
  public enum Content: Sendable, Hashable {
    /// The task's body.
    case ofTask
    /// No body.
    case none
  }

  /// The method.
  public var method: HTTPMethod
  /// The URL. `nil` for the URL described at the function that returns the request.
  ///
  /// ``ResumableUpload`` rejects a URL that downgrades from https to http or contains a user name.
  public var url: URL?
  /// The parameters that are added to the URL's query.
  public var query: HTTPQuery
  /// The headers, which are added to those of the task.
  public var headers: HTTPHeaders
  /// The body, if the request starts an upload.
  public var content: Content

  /// Creates a request.
  public init(
    _ method: HTTPMethod, url: URL? = nil, query: HTTPQuery = [:], headers: HTTPHeaders = [:],
    content: Content = .ofTask
  ) {
    self.method = method
    self.url = url
    self.query = query
    self.headers = headers
    self.content = content
  }
}

/// The response to a request created by an ``UploadDialect``.
public struct UploadAnswer: Sendable {
  /// The status.
  public let status: HTTPStatus
  /// The headers.
  public let headers: HTTPHeaders
  /// The response's URL.
  public let url: URL

  /// Creates a response.
  public init(_ status: HTTPStatus, headers: HTTPHeaders = [:], url: URL) {
    self.status = status
    self.headers = headers
    self.url = url
  }

  /// Returns the URL in a header field, such as `Location`, resolved against ``url``. Returns `nil` if the field is
  /// missing or empty.
  ///
  /// ``ResumableUpload`` rejects a URL that downgrades from https to http or contains a user name, regardless of the
  /// dialect.
  ///
  /// Throws `TaskError` with code `.badResponse` if the field's value is not a URL, or if the field has several
  /// different values.
  public func url(in field: HTTPHeaderName) throws -> URL? {
    guard headers.values(for: field).contains(where: { !$0.isEmpty }) else { return nil }
    do {
      return try LinkedURL.target(of: field, in: headers, from: url)
    } catch {
      throw TaskError(
        .badResponse, "the server did not start an upload: \(status), but \(error.reason)", phase: .finishing)
    }
  }
}

/// An upload's position on the server.
public enum UploadPosition: Sendable, Hashable {
  /// The server has all bytes before this position and expects the next chunk to start there. If there is a location,
  /// it replaces the session's.
  case at(Int64, location: URL? = nil)
  /// The server has the entire content.
  case finished
  /// The server accepted the last chunk, but the response does not confirm that it has the entire content. If the
  /// server does not know the upload when queried, the upload is complete.
  case taken
  /// The response does not contain the position, so the upload sends a query.
  case unknown
  /// The server no longer knows the upload, so the upload starts over.
  case gone
  /// The upload has failed. The run throws an error with the response's status.
  case failed
  /// The server has the entire content and has rejected it. The content is not resent, regardless of the status.
  case rejected
}
