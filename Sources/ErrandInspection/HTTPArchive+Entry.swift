public import Errand
import ErrandFoundation

extension HTTPArchive {
  /// A request and its response.
  public struct Entry: Codable, Sendable, Hashable {
    /// The time at which the request started, in ISO 8601 format.
    public var startedDateTime: String
    /// The total duration, in milliseconds.
    public var time: Double
    /// The request.
    public var request: Request
    /// The response. Its status is 0 if no response arrived.
    public var response: Response
    /// The phases of the request.
    public var timings: Timings
    /// The server's address, if known.
    public var serverIPAddress: String?
    /// A comment, if any.
    public var comment: String?
    /// The call's number, unique in its process. Encoded as `_call`.
    public var call: Int?
    /// The name of the task's type, or the task's custom name. Encoded as `_task`.
    public var task: String?
    /// The attempt's number, starting at 1. 0 if the call did not send a request. Encoded as `_attempt`.
    public var attempt: Int?
    /// Whether the request was resent because its pooled connection was stale or the server refused it. Encoded as
    /// `_resent`.
    public var wasResent: Bool?
    /// A description of how the cache was used. Encoded as `_cache`.
    public var cacheUse: String?
    /// The failure on one line. Encoded as `_error`.
    public var failure: String?
    /// The call's flight record, one line per moment. Set only on the call's last request. Encoded as `_timeline`.
    public var timeline: [String]?
    /// The call's diagnosis. Set only on the call's last request. Encoded as `_diagnosis`.
    public var diagnosis: String?
    /// The browser cache state, which the format requires. Always empty.
    var cache = NoCache()

    enum CodingKeys: String, CodingKey {
      case startedDateTime, time, request, response, timings, serverIPAddress, comment, cache
      case call = "_call"
      case task = "_task"
      case attempt = "_attempt"
      case wasResent = "_resent"
      case cacheUse = "_cache"
      case failure = "_error"
      case timeline = "_timeline"
      case diagnosis = "_diagnosis"
    }
  }

  struct NoCache: Codable, Sendable, Hashable {}

  /// A cookie or a query item.
  public struct Pair: Codable, Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value.
    public var value: String
  }

  /// A request.
  public struct Request: Codable, Sendable, Hashable {
    /// The method.
    public var method: String
    /// The URL, without its fragment.
    public var url: String
    /// The HTTP version.
    public var httpVersion: String
    /// The cookies that were sent. Empty if hidden.
    public var cookies: [Pair]
    /// The header fields, in order.
    public var headers: HTTPHeaders
    /// The query items.
    public var queryString: [Pair]
    /// The body, if any.
    public var postData: PostData?
    /// The size of the header in bytes. -1 if unknown.
    public var headersSize: Int
    /// The size of the body in bytes. -1 if unknown.
    public var bodySize: Int
  }

  /// A request's body.
  public struct PostData: Codable, Sendable, Hashable {
    /// The media type. Empty if not specified.
    public var mimeType: String
    /// The text, or binary data in Base64. Empty if hidden.
    public var text: String
    /// `base64` if the text is in Base64. Encoded as `_encoding`, because the format has this field only for responses.
    public var encoding: String?
    /// A note that replaces a hidden body.
    public var comment: String?

    enum CodingKeys: String, CodingKey {
      case mimeType, text, comment
      case encoding = "_encoding"
    }
  }

  /// A response.
  public struct Response: Codable, Sendable, Hashable {
    /// The status. 0 if no response arrived.
    public var status: Int
    /// The reason phrase.
    public var statusText: String
    /// The HTTP version.
    public var httpVersion: String
    /// The cookies that were set. Empty if hidden.
    public var cookies: [Pair]
    /// The header fields, in order.
    public var headers: HTTPHeaders
    /// The body.
    public var content: Content
    /// The value of `Location`. Empty if there is no such field.
    public var redirectURL: String
    /// The size of the header in bytes. -1 if unknown.
    public var headersSize: Int
    /// The size of the body as transferred, in bytes. -1 if unknown.
    public var bodySize: Int
    /// The trailer fields, if any. Encoded as `_trailers`.
    public var trailers: HTTPHeaders?

    enum CodingKeys: String, CodingKey {
      case status, statusText, httpVersion, cookies, headers, content, redirectURL, headersSize, bodySize
      case trailers = "_trailers"
    }
  }

  /// A response's body.
  public struct Content: Codable, Sendable, Hashable {
    /// The number of bytes after decompression. -1 if unknown.
    public var size: Int
    /// The media type. Empty if not specified.
    public var mimeType: String
    /// The text, or binary data in Base64. `nil` if hidden.
    public var text: String?
    /// `base64` if the text is in Base64.
    public var encoding: String?
    /// A note that replaces a hidden body.
    public var comment: String?
  }

  /// The phases of a request, in milliseconds. -1 if a phase does not apply or is unknown.
  public struct Timings: Codable, Sendable, Hashable {
    /// The time spent waiting for a slot.
    public var blocked = -1.0
    /// The time spent on name resolution.
    public var dns = -1.0
    /// The time spent connecting, including TLS.
    public var connect = -1.0
    /// The time spent sending the request.
    public var send = 0.0
    /// The time spent waiting for the first byte of the response.
    public var wait = 0.0
    /// The time spent receiving the response.
    public var receive = 0.0
    /// The time spent on the TLS handshake. Included in `connect`.
    public var ssl = -1.0

    /// The sum of all phases.
    public var total: Double { [blocked, dns, connect, send, wait, receive].filter { $0 > 0 }.reduce(0, +) }
  }
}
