public import ErrandFoundation

/// A protocol for chunked uploads: ``TusUpload``, ``GoogleUpload``, ``IETFUpload``, or your own.
///
/// A dialect creates requests and interprets responses. ``ResumableUpload`` sends the requests, retries them and stores
/// the state.
public protocol UploadDialect: Sendable {
  /// The unique name of the dialect in journals.
  var name: String { get }
  /// The metadata sent when an upload starts. Changed metadata starts another upload. Defaults to none.
  var metadata: [String: String] { get }
  /// Whether an upload is finished with its last byte. If not, the last chunk says that it is the last, and is empty if
  /// no bytes are left.
  var endsWithLastByte: Bool { get }
  /// The request that asks the task's URL for the server's features before an upload starts. Defaults to `nil`, which
  /// sends none.
  func inquiry() -> UploadRequest?
  /// The checksum algorithm for the chunks, chosen from the response to ``inquiry()``. Defaults to `nil`, which sends
  /// no checksums.
  func checksum(by answer: UploadAnswer) -> UploadChecksum?
  /// The request that starts an upload. It is sent to the task's URL.
  func begin(_ source: UploadSource) -> UploadRequest
  /// The upload that the server has started.
  /// Throws ``TaskError`` with code `.badResponse` if the response does not describe one.
  func begun(_ answer: UploadAnswer) throws -> UploadSession
  /// The request that asks for the position of an upload.
  func query(_ session: UploadSession) -> UploadRequest
  /// The request that sends a chunk. ``ResumableUpload`` adds the bytes as its body.
  func send(_ piece: UploadPiece, of session: UploadSession) -> UploadRequest
  /// The position of the upload, from the response to ``query(_:)`` or ``send(_:of:)``.
  ///
  /// - Parameters:
  ///   - answer: The response, with any status.
  ///   - piece: The chunk that was sent. `nil` after a query.
  func position(_ answer: UploadAnswer, after piece: UploadPiece?) -> UploadPosition
  /// The request that deletes an upload on the server. `nil` if the protocol does not support it.
  func cancel(_ session: UploadSession) -> UploadRequest?
}

extension UploadDialect {
  /// None.
  public var metadata: [String: String] { [:] }
  /// `nil`: no request is sent.
  public func inquiry() -> UploadRequest? { nil }
  /// `nil`: chunks have no checksum.
  public func checksum(by answer: UploadAnswer) -> UploadChecksum? { nil }
}

/// The content to upload.
public struct UploadSource: Sendable, Hashable {
  /// The name of the file, without its folder.
  public let fileName: String
  /// The length in bytes. `nil` if not known yet.
  public let length: Int64?
  /// The media type.
  public let type: MediaType
}

/// An upload that the server has started.
public struct UploadSession: Codable, Sendable, Hashable {
  /// The URL that accepts the chunks. It may be a secret.
  public var location: URL
  /// The size of each chunk, except the last, is a multiple of this number of bytes. Defaults to 1.
  public var granularity: Int
  /// The maximum size of a chunk in bytes. `nil` if the server sets no limit.
  public var largestPiece: Int?
  /// The minimum size in bytes of each chunk except the last. `nil` if the server sets no limit.
  public var smallestPiece: Int?
  /// The checksum algorithm for the chunks. `nil` for no checksums.
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
  /// The number of bytes. 0 for a last chunk that only ends the upload.
  public internal(set) var count: Int64
  /// Whether this is the last chunk.
  public internal(set) var isLast: Bool
  /// The total length, if it was unknown at the start and this is the last chunk.
  public internal(set) var foundLength: Int64?
  /// The digest of the bytes, with the session's checksum algorithm. `nil` without one.
  public internal(set) var digest: Data?
}

/// A request of an ``UploadDialect``.
public struct UploadRequest: Sendable, Hashable {
  /// The body of a request that starts an upload.
  public enum Content: Sendable, Hashable {
    /// The body of the task.
    case ofTask
    /// No body.
    case none
  }

  /// The method.
  public var method: HTTPMethod
  /// The headers to add to those of the task.
  public var headers: HTTPHeaders
  /// The body, if the request starts an upload.
  public var content: Content

  /// Creates a request.
  public init(_ method: HTTPMethod, headers: HTTPHeaders, content: Content = .ofTask) {
    self.method = method
    self.headers = headers
    self.content = content
  }
}

/// The response to a request of an ``UploadDialect``.
public struct UploadAnswer: Sendable {
  /// The status.
  public let status: HTTPStatus
  /// The headers.
  public let headers: HTTPHeaders
  /// The URL of the response.
  public let url: URL

  /// Creates a response.
  public init(_ status: HTTPStatus, headers: HTTPHeaders = [:], url: URL) {
    self.status = status
    self.headers = headers
    self.url = url
  }

  /// Returns the URL in a header field, such as `Location`, resolved against ``url``; `nil` if the field is missing or
  /// empty.
  ///
  /// ``ResumableUpload`` rejects a URL that leads from https to http or contains a user name, whatever the dialect
  /// returns.
  ///
  /// Throws ``TaskError`` with code `.badResponse` if the field is not a URL, or has several values that differ.
  public func url(in field: HTTPHeaderName) throws -> URL? {
    guard headers.values(for: field).contains(where: { !$0.isEmpty }) else { return nil }
    do {
      return try LinkedURL.target(of: field, in: headers, from: url)
    } catch {
      throw TaskError(
        .badResponse, "the server did not start an upload: \(status), and \(error.reason)", phase: .finishing)
    }
  }
}

/// The position of an upload on its server.
public enum UploadPosition: Sendable, Hashable {
  /// The server has the bytes before this position and expects the next ones from there.
  case at(Int64)
  /// The server has the whole content.
  case finished
  /// The server accepted the last chunk, but the response does not confirm that it has the whole content. If the server
  /// no longer knows the upload afterwards, the upload is complete.
  case taken
  /// The response does not include the position. Send a query.
  case unknown
  /// The server no longer knows the upload. It starts again.
  case gone
  /// The upload failed with the response's status.
  case failed
  /// The server has the whole content and rejects it. The upload is not sent again, whatever the status.
  case rejected
}
