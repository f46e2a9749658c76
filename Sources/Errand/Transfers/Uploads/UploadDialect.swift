public import ErrandFoundation

/// The words in which a server takes an upload in pieces: ``TusUpload``, ``GoogleUpload``, ``IETFUpload``, or one of your own.
///
/// It is a value that makes requests and reads answers. Sending, repeating and keeping is what ``ResumableUpload`` does.
public protocol UploadDialect: Sendable {
  /// The name in journals; another dialect never has it.
  var name: String { get }
  /// What the server is told of an upload when it begins: one of other metadata is another upload. Unless implemented none.
  var metadata: [String: String] { get }
  /// True where an upload is finished with its last byte; else a piece that says so follows, with no bytes where none are left.
  var endsWithLastByte: Bool { get }
  /// The request that asks what a server offers before an upload begins, at the task's URL. Unless implemented nil: nothing is asked.
  func inquiry() -> UploadRequest?
  /// The checksum that each piece is to have, by the answer to ``inquiry()``. Unless implemented nil: none.
  func checksum(by answer: UploadAnswer) -> UploadChecksum?
  /// The request that begins an upload; its URL is the task's.
  func begin(_ source: UploadSource) -> UploadRequest
  /// What a server has begun.
  /// Throws ``TaskError`` with code `.badResponse` where the answer does not say.
  func begun(_ answer: UploadAnswer) throws -> UploadSession
  /// The request that asks how far an upload is.
  func query(_ session: UploadSession) -> UploadRequest
  /// The request that sends a piece: its bytes are put into its body.
  func send(_ piece: UploadPiece, of session: UploadSession) -> UploadRequest
  /// What an answer to ``query(_:)`` or ``send(_:of:)`` says.
  ///
  /// - Parameters:
  ///   - answer: The answer, whatever its status.
  ///   - piece: The piece that was sent; nil after a query.
  func position(_ answer: UploadAnswer, after piece: UploadPiece?) -> UploadPosition
  /// The request that has the server forget an upload; nil where there is none.
  func cancel(_ session: UploadSession) -> UploadRequest?
}

extension UploadDialect {
  /// None.
  public var metadata: [String: String] { [:] }
  /// Nil: nothing is asked.
  public func inquiry() -> UploadRequest? { nil }
  /// Nil: pieces have no checksum.
  public func checksum(by answer: UploadAnswer) -> UploadChecksum? { nil }
}

/// What goes up.
public struct UploadSource: Sendable, Hashable {
  /// The name of the file, without its folder.
  public let fileName: String
  /// Its length in bytes; nil where it is not known yet.
  public let length: Int64?
  /// Its media type.
  public let type: MediaType
}

/// An upload that a server has begun.
public struct UploadSession: Codable, Sendable, Hashable {
  /// The place that takes the pieces. It may be a secret.
  public var location: URL
  /// The number of bytes that each piece but the last is a multiple of.
  public var granularity: Int
  /// The most bytes of a piece; nil where the server states no limit.
  public var largestPiece: Int?
  /// The fewest bytes of each piece but the last; nil where the server states no limit.
  public var smallestPiece: Int?
  /// The checksum that each piece has; nil for none.
  public internal(set) var checksum: UploadChecksum?

  /// An upload.
  public init(location: URL, granularity: Int = 1, largestPiece: Int? = nil, smallestPiece: Int? = nil) {
    self.location = location
    self.granularity = max(1, granularity)
    self.largestPiece = largestPiece
    self.smallestPiece = smallestPiece
  }
}

/// A piece of what goes up.
public struct UploadPiece: Sendable, Hashable {
  /// The position of its first byte.
  public let offset: Int64
  /// The number of its bytes; 0 for the last piece of an upload of which all bytes are there.
  public internal(set) var count: Int64
  /// True where all ends with it.
  public internal(set) var isLast: Bool
  /// The length of the whole, where it was not known when the upload began, and this piece is the last.
  public internal(set) var foundLength: Int64?
  /// The digest of its bytes by the checksum of the session; nil without one.
  public internal(set) var digest: Data?
}

/// The request of an ``UploadDialect``.
public struct UploadRequest: Sendable, Hashable {
  /// The body of a request that begins an upload.
  public enum Content: Sendable, Hashable {
    /// The body of the task.
    case ofTask
    /// No body.
    case none
  }

  /// The method.
  public var method: HTTPMethod
  /// The header fields that it has beside those of the task.
  public var headers: HTTPHeaders
  /// The body, where the request begins an upload.
  public var content: Content

  /// A request.
  public init(_ method: HTTPMethod, headers: HTTPHeaders, content: Content = .ofTask) {
    self.method = method
    self.headers = headers
    self.content = content
  }
}

/// The answer to a request of an ``UploadDialect``.
public struct UploadAnswer: Sendable {
  /// The status.
  public let status: HTTPStatus
  /// The header fields.
  public let headers: HTTPHeaders
  /// The URL that it came from.
  public let url: URL

  /// An answer.
  public init(_ status: HTTPStatus, headers: HTTPHeaders = [:], url: URL) {
    self.status = status
    self.headers = headers
    self.url = url
  }

  /// Returns the URL in a header field, such as `Location`, resolved against ``url``; `nil` if the field is missing or empty.
  ///
  /// Whatever a dialect makes of it, ``ResumableUpload`` refuses a URL that leads from https to http, or names a user.
  ///
  /// Throws ``TaskError`` with code `.badResponse` if the field is not a URL, or has several values that differ.
  public func url(in field: HTTPHeaderName) throws -> URL? {
    guard headers.values(for: field).contains(where: { !$0.isEmpty }) else { return nil }
    do {
      return try LinkedURL.target(of: field, in: headers, from: url)
    } catch {
      throw TaskError(.badResponse, "\(status) begins no upload: \(error.reason)", phase: .finishing)
    }
  }
}

/// How far an upload is, as its server says.
public enum UploadPosition: Sendable, Hashable {
  /// The server has the bytes before this position, and takes those from there on.
  case at(Int64)
  /// The server has all.
  case finished
  /// The server took the last piece. The answer does not say that it has all; a server that knows the upload no more afterwards has.
  case taken
  /// The answer does not say, and a query will.
  case unknown
  /// The server does not know the upload any more: it is begun again.
  case gone
  /// The upload failed for good, or as the status says.
  case failed
  /// The server has all, and refuses it: whatever the status, it is not sent again.
  case rejected
}
