public import ErrandFoundation

/// An HTTP response. Its body is a stream.
public struct HTTPResponse: Sendable {
  /// The status.
  public var status: HTTPStatus
  /// The header fields, in the order they were received.
  public var headers: HTTPHeaders
  /// The HTTP version, or `nil` if nothing was transferred.
  public var version: HTTPVersion?
  /// The URL of the response, after redirects.
  public var url: URL
  /// Whether the connection had already been used for another exchange.
  public var isConnectionReused: Bool
  /// The body. It can only be read once.
  public var body: HTTPResponseBody
  /// The request as it was sent, after steps, redirects and cookies. `nil` if the cache or a step answered.
  public internal(set) var request: HTTPRequest?
  /// The number of the call that sent the request. `nil` if the cache or a step answered.
  private(set) var sender: Int?
  /// The call that produced the response, with its record.
  package var call: (any AnyObject & Sendable)?
  /// Boxed, because few responses have these values.
  private var extras: Extras?

  /// Creates a response.
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

  private final class Extras: Sendable {
    let values: ExtraValues
    init(_ values: ExtraValues) { self.values = values }
  }

  private struct ExtraValues: Sendable {
    var redirects: [Redirect] = []
    var match: PartMatch?
    var cachedAt: Date?
    var cacheStatus: CacheStatus?
  }

  private var extraValues: ExtraValues {
    get { extras?.values ?? ExtraValues() }
    set { extras = Extras(newValue) }
  }

  mutating func note(_ request: HTTPRequest, sentBy call: Int) { (self.request, sender) = (request, call) }

  /// Makes this the answer of a step, which sent nothing. Keeps the head and the body.
  mutating func forgetExchange() { (request, sender, extras) = (nil, nil, nil) }

  /// The redirects that were followed, in order. Empty for most responses.
  public internal(set) var redirects: [Redirect] {
    get { extras?.values.redirects ?? [] }
    set { if extras != nil || !newValue.isEmpty { extraValues.redirects = newValue } }
  }

  /// How the server's cache handled the request: a hit, or the reason why the request was sent. `nil` if the server has
  /// no cache.
  ///
  ///     let response = try await shop.response(GetWidget(id: 7)).response
  ///     print(response.cacheStatus?.isHit == true ? "from the cache" : "from the server")
  public var cacheStatus: CacheStatus? { extras?.values.cacheStatus }

  /// Sets ``cacheStatus`` and adds it to the `Cache-Status` field. Replaces any earlier status.
  mutating func note(_ status: CacheStatus, storedAt date: Date? = nil) {
    if cacheStatus == nil {
      headers.add(status.description, for: .cacheStatus)
    } else {
      headers.replaceLast(.cacheStatus, with: status.description)
    }
    var values = extraValues
    values.cacheStatus = status
    if let date { values.cachedAt = date }
    extraValues = values
  }

  /// The date when a stored response was received, or `nil` if the response isn't from the cache.
  var cachedAt: Date? { extras?.values.cachedAt }

  /// Whether a 206 or 304 response matches its request. `nil` for other responses, or if a step created the response.
  private var match: PartMatch? {
    get { extras?.values.match }
    set { if extras != nil || newValue != nil { extraValues.match = newValue } }
  }

  private enum PartMatch {
    /// The version of the call's file, if the request named it.
    case matches(FileValidators?)
    case mismatch(String)
  }

  /// Checks whether a 206 or 304 response matches its request, unless that is already known.
  mutating func checkMatch(with request: HTTPRequest) {
    guard status == .partialContent || status == .notModified, match == nil else { return }
    let named = status == .notModified ? request.options.fileVersion : nil
    match =
      mismatch(with: request).map { .mismatch($0) }
      ?? .matches(named.flatMap { $0.isNamed(by: request.headers) ? $0 : nil })
  }

  /// The version of the call's file that this 304 response confirms.
  var confirmedVersion: FileValidators? { if case .matches(let version) = match { version } else { nil } }

  /// The reason why a 206 or 304 response doesn't match its request, or `nil` if it matches.
  package var unexpected: String? { if case .mismatch(let reason) = match { reason } else { nil } }

  /// The response without its body and call, for records: they would keep everything that they reference alive.
  var head: HTTPResponse {
    var head = self
    head.body = HTTPResponseBody(Data(), trailers: body.trailers)
    head.call = nil
    return head
  }

  /// The media type in `Content-Type`, or `nil` if the field is missing or invalid.
  ///
  /// If the server sent the field several times, the last valid type is used, as in browsers.
  public var mediaType: MediaType? { headers.mediaType }
}

/// The HTTP version of a response.
public enum HTTPVersion: String, Codable, Sendable, Hashable {
  /// HTTP/1.0.
  case http1_0 = "HTTP/1.0"
  /// HTTP/1.1.
  case http1_1 = "HTTP/1.1"
  /// HTTP/2.
  case http2 = "HTTP/2"
  /// HTTP/3.
  case http3 = "HTTP/3"

  /// Whether connections are multiplexed and bodies are framed.
  var hasStreams: Bool { self == .http2 || self == .http3 }
}
