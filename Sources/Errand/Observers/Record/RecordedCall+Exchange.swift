public import ErrandFoundation

extension RecordedCall {
  /// A recorded body.
  public struct Body: Codable, Sendable, Hashable {
    /// The media type declared in the header.
    public var type: String?
    /// The number of bytes after decompression. `nil` if unknown.
    public var size: Int?
    /// The body as text, with secrets hidden. `nil` if the body is binary or exceeds the limit.
    public var text: String?
    /// The bytes of a binary body that can't contain secrets: an image, audio, video or font. Bodies of other types are
    /// included only if the redaction does not hide anything, as with ``Redaction/none``.
    public var data: Data?
    /// A note that is shown instead of the body if `text` is `nil`.
    public var note: String?

    package init(type: String? = nil, size: Int? = nil, text: String? = nil, data: Data? = nil, note: String? = nil) {
      self.type = type
      self.size = size
      self.text = text
      self.data = data
      self.note = note
    }

    var shown: String { text ?? note ?? "" }
  }

  /// A response.
  public struct Response: Codable, Sendable, Hashable {
    /// The response status.
    public var status: HTTPStatus
    /// The response's HTTP version. `nil` if the response was not transferred over HTTP.
    public var version: HTTPVersion?
    /// The header fields, with secrets hidden. Empty if hidden.
    public var headers: HTTPHeaders = [:]
    /// The body. `nil` if it was not read or is hidden.
    public var body: Body?
    /// The trailer fields, with secrets hidden. `nil` if missing or hidden.
    public var trailers: HTTPHeaders?
    /// Whether the response arrived on a reused connection.
    public var isConnectionReused = false

    package init(
      status: HTTPStatus, version: HTTPVersion? = nil, headers: HTTPHeaders = [:], trailers: HTTPHeaders? = nil,
      isConnectionReused: Bool = false
    ) {
      self.status = status
      self.version = version
      self.headers = headers
      self.trailers = trailers
      self.isConnectionReused = isConnectionReused
    }
  }

  /// A request that was sent, with its response.
  public struct Exchange: Codable, Sendable, Hashable {
    /// The attempt's number, starting at 1.
    public var attempt: Int
    /// The method.
    public var method: HTTPMethod
    /// The URL. `nil` if hidden.
    public var url: String?
    /// The request header fields, with secrets hidden. Empty if hidden.
    public var headers: HTTPHeaders = [:]
    /// The request body, if any. A hidden body has only a note.
    public var body: Body?
    /// The response. `nil` if no response arrived.
    public var response: Response?
    /// The failure on one line. `nil` if the request succeeded or the failure is hidden.
    public var failure: String?
    /// The time from the start of the call to the request, not including the request's wait for a slot. Encoded in
    /// seconds, like the durations below.
    public var sent: Duration
    /// The time from the start of the call to the response head. `nil` if no response arrived.
    public var answered: Duration?
    /// The time from the start of the call to the end of the response body. `nil` if unknown.
    public var ended: Duration?
    /// The duration of the attempt. Set only on the attempt's last request.
    public var duration: Duration?
    /// The time that the request waited for a slot. `nil` if the request does not belong to a call.
    public var queued: Duration?
    /// The timings of the transfer, if measured. Set only on the attempt's last request.
    public var timings: TransferTimings?

    package init(
      attempt: Int, method: HTTPMethod, url: String? = nil, failure: String? = nil, sent: Duration,
      answered: Duration? = nil, ended: Duration? = nil, duration: Duration? = nil, queued: Duration? = nil,
      timings: TransferTimings? = nil
    ) {
      self.attempt = attempt
      self.method = method
      self.url = url
      self.failure = failure
      self.sent = sent
      self.answered = answered
      self.ended = ended
      self.duration = duration
      self.queued = queued
      self.timings = timings
    }
  }
}

extension RecordedCall.Exchange {
  /// The approximate size in memory, in bytes.
  var size: Int {
    func size(_ body: RecordedCall.Body?) -> Int { (body?.text?.utf8.count ?? 0) + (body?.data?.count ?? 0) }
    let fields = [headers, response?.headers ?? [:], response?.trailers ?? [:]].reduce(0) {
      $0 + $1.size + $1.count * 36
    }
    return 600 + fields + size(body) + size(response?.body)
  }
}

extension Redaction {
  /// Returns the body with secrets hidden, or a note if it is longer than `limit` bytes.
  package func recorded(_ data: Data, type: MediaType?, limit: Int) -> RecordedCall.Body {
    var body = RecordedCall.Body(type: type?.rawValue, size: data.count)
    guard data.count <= limit else {
      body.note = Self.placeholder(for: data.count, over: limit)
      return body
    }
    guard data.isEmpty || !hidesBody(of: type) else {
      body.note = Self.placeholder(hiding: data.count, of: type)
      return body
    }
    body.text = data.isEmpty ? "" : text(of: data, type: type)
    guard body.text == nil else { return body }
    body.note = Self.placeholder(for: data.count, of: type)
    if hidesNothing || type?.isMedia == true { body.data = data }
    return body
  }
}

extension MediaType {
  /// Whether this is a binary image, audio, video or font type. `image/svg+xml` is text.
  fileprivate var isMedia: Bool {
    let essence = essence
    return !isText && ["image/", "audio/", "video/", "font/"].contains { essence.hasPrefix($0) }
  }
}
