public import ErrandFoundation

/// A response: its head, and its body as it comes.
public struct HTTPResponse: Sendable {
  /// The status.
  public var status: HTTPStatus
  /// The header fields, in the order in which they came.
  public var headers: HTTPHeaders
  /// The version of HTTP that carried it; nil when nothing was carried.
  public var version: HTTPVersion?
  /// The URL that it came from: after redirects, the last one.
  public var url: URL
  /// True when it came over a connection that had carried an exchange before.
  public var isConnectionReused: Bool
  /// True once the hooks of its call have verified the head, before a copy was stored.
  package var isVerified = false
  /// True once its call has begun to store it.
  var isStored = false
  /// The body, which is read once.
  public var body: HTTPResponseBody
  /// The maker of the response, which has its flight record.
  package var maker: (any AnyObject & Sendable)?
  /// The parts that few responses have; nil where there is none of them, so that most cost no more for those.
  private var rare: Rare?

  /// A response by its parts.
  public init(
    _ status: HTTPStatus = .ok, url: URL, headers: HTTPHeaders = [:], version: HTTPVersion? = nil,
    isConnectionReused: Bool = false, body: HTTPResponseBody = .init()
  ) {
    self.status = status
    self.headers = headers
    self.version = version
    self.url = url
    self.isConnectionReused = isConnectionReused
    self.body = body
  }

  private final class Rare: Sendable {
    let redirects: [Redirect]
    let unexpected: String?
    let storedAt: Date?

    init?(_ redirects: [Redirect], _ unexpected: String?, _ storedAt: Date?) {
      if redirects.isEmpty, unexpected == nil, storedAt == nil { return nil }
      (self.redirects, self.unexpected, self.storedAt) = (redirects, unexpected, storedAt)
    }
  }

  /// The redirects that were followed to it, the first one first; empty for most.
  public internal(set) var redirects: [Redirect] {
    get { rare?.redirects ?? [] }
    set { rare = Rare(newValue, unexpected, storedAt) }
  }

  /// The moment at which the stored response came that it is; nil for one that came from the remote.
  var storedAt: Date? {
    get { rare?.storedAt }
    set { rare = Rare(redirects, unexpected, newValue) }
  }

  /// The reason why a 206 or 304 does not answer its request; `nil` if it does, and for every other status.
  var unexpected: String? {
    get { rare?.unexpected }
    set { rare = Rare(redirects, newValue, storedAt) }
  }

  /// The media type in `Content-Type`, or `nil` if the field is missing.
  ///
  /// A field that is sent several times is read as browsers read it: the last valid type counts.
  public var mediaType: MediaType? { headers.mediaType }
}

/// The version of HTTP that carried a response.
public enum HTTPVersion: String, Codable, Sendable, Hashable {
  /// HTTP/1.0.
  case http1_0 = "HTTP/1.0"
  /// HTTP/1.1.
  case http1_1 = "HTTP/1.1"
  /// HTTP/2.
  case http2 = "HTTP/2"
  /// HTTP/3.
  case http3 = "HTTP/3"

  /// A connection carries many exchanges at once, and frames their bodies.
  var hasStreams: Bool { self == .http2 || self == .http3 }
}
