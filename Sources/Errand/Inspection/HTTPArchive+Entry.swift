import ErrandFoundation

extension HTTPArchive {
  /// A request and the response to it.
  public struct Entry: Codable, Sendable, Hashable {
    /// The start of the request, in ISO 8601.
    public var startedDateTime: String
    /// The time that it took in all, in milliseconds.
    public var time: Double
    /// The request.
    public var request: Request
    /// The response; of status 0 where none came.
    public var response: Response
    /// The parts of the time.
    public var timings: Timings
    /// The address of the other end; nil where it is not known.
    public var serverIPAddress: String?
    /// A word for people; nil where there is none.
    public var comment: String?
    /// The call, by a number that is unique in its process: `_call`.
    public var call: Int?
    /// The name of the task's type, or that it was given: `_task`.
    public var task: String?
    /// The number of the attempt, counted from 1; 0 where the call sent nothing: `_attempt`.
    public var attempt: Int?
    /// Whether the request was resent, because its pooled connection was stale or the server refused it: `_resent`.
    public var wasResent: Bool?
    /// The use of the cache in words: `_cache`.
    public var cacheUse: String?
    /// The failure in one line: `_error`.
    public var failure: String?
    /// The flight record of the call, a line a moment; with the call's last request: `_timeline`.
    public var timeline: [String]?
    /// The diagnosis of the call; with the call's last request: `_diagnosis`.
    public var diagnosis: String?
    /// The use of the browser's cache, which there is none of; required by the format.
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

  /// A request.
  public struct Request: Codable, Sendable, Hashable {
    /// The method.
    public var method: String
    /// The URL, without its fragment.
    public var url: String
    /// The version of HTTP.
    public var httpVersion: String
    /// The cookies that were sent; empty where they are hidden.
    public var cookies: [RecordedCall.Field]
    /// The header fields in order.
    public var headers: [RecordedCall.Field]
    /// The items of the query.
    public var queryString: [RecordedCall.Field]
    /// The body; nil where there is none.
    public var postData: PostData?
    /// The bytes of the header; -1 where they are not known.
    public var headersSize: Int
    /// The bytes of the body; -1 where they are not known.
    public var bodySize: Int
  }

  /// The body of a request.
  public struct PostData: Codable, Sendable, Hashable {
    /// The media type; empty where none was stated.
    public var mimeType: String
    /// The text, or the bytes in Base64; empty where they are not shown.
    public var text: String
    /// `base64` where the text is that: `_encoding`, which the format has for responses only.
    public var encoding: String?
    /// The words in place of what is not shown.
    public var comment: String?

    enum CodingKeys: String, CodingKey {
      case mimeType, text, comment
      case encoding = "_encoding"
    }
  }

  /// A response.
  public struct Response: Codable, Sendable, Hashable {
    /// The status; 0 where no response came.
    public var status: Int
    /// The usual phrase of the status.
    public var statusText: String
    /// The version of HTTP.
    public var httpVersion: String
    /// The cookies that it set; empty where they are hidden.
    public var cookies: [RecordedCall.Field]
    /// The header fields in order.
    public var headers: [RecordedCall.Field]
    /// The body.
    public var content: Content
    /// The value of `Location`; empty where there is none.
    public var redirectURL: String
    /// The bytes of the header; -1 where they are not known.
    public var headersSize: Int
    /// The bytes of the body as they came; -1 where they are not known.
    public var bodySize: Int
    /// The fields after the body; nil where there are none: `_trailers`.
    public var trailers: [RecordedCall.Field]?

    enum CodingKeys: String, CodingKey {
      case status, statusText, httpVersion, cookies, headers, content, redirectURL, headersSize, bodySize
      case trailers = "_trailers"
    }
  }

  /// The body of a response.
  public struct Content: Codable, Sendable, Hashable {
    /// The number of bytes, once decoded; -1 where it is not known.
    public var size: Int
    /// The media type; empty where none was stated.
    public var mimeType: String
    /// The text, or the bytes in Base64; nil where they are not shown.
    public var text: String?
    /// `base64` where the text is that.
    public var encoding: String?
    /// The words in place of what is not shown.
    public var comment: String?
  }

  /// The parts of the time of a request, in milliseconds; -1 where a part does not apply or is not known.
  public struct Timings: Codable, Sendable, Hashable {
    /// The time spent waiting for a slot.
    public var blocked = -1.0
    /// The time for looking up the name.
    public var dns = -1.0
    /// The time for connecting, TLS included.
    public var connect = -1.0
    /// The time for sending the request.
    public var send = 0.0
    /// The time for waiting for the first byte of the response.
    public var wait = 0.0
    /// The time for receiving the response.
    public var receive = 0.0
    /// The time for TLS, which is part of `connect`.
    public var ssl = -1.0

    /// Their sum.
    public var total: Double { [blocked, dns, connect, send, wait, receive].filter { $0 > 0 }.reduce(0, +) }
  }
}
