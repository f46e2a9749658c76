public import ErrandFoundation

extension RecordedCall {
  /// A line of a header, its value hidden where it is secret.
  public struct Field: Codable, Sendable, Hashable, CustomStringConvertible {
    /// The name as it was written.
    public var name: String
    /// The value.
    public var value: String

    /// The line as it stands in a message.
    public var description: String { "\(name): \(value)" }
  }

  /// A body as it is recorded.
  public struct Body: Codable, Sendable, Hashable {
    /// The media type that the header names.
    public var type: String?
    /// The number of bytes, once decoded; nil where it is not known.
    public var size: Int?
    /// The text, secrets hidden; nil where it is none, or larger than is shown.
    public var text: String?
    /// The bytes of what is no text, where they can hold no secret: of pictures, sound and fonts. Of all other types only
    /// where the redaction hides nothing, as ``Redaction/none`` does.
    public var data: Data?
    /// The words in place of what is not shown as text.
    public var note: String?

    /// The text, or the words in its place.
    var shown: String { text ?? note ?? "" }
  }

  /// A response.
  public struct Response: Codable, Sendable, Hashable {
    /// The status.
    public var status: HTTPStatus
    /// The version of HTTP that carried it; nil where none did.
    public var version: HTTPVersion?
    /// The header; empty where it is not shown.
    public var headers: [Field] = []
    /// The body; nil where it was not read, or is not shown.
    public var body: Body?
    /// The fields after the body; nil where there are none, or they are not shown.
    public var trailers: [Field]?
    /// True when it came over a connection that had carried an exchange before.
    public var isConnectionReused = false
  }

  /// A request that was sent, and what came back.
  public struct Exchange: Codable, Sendable, Hashable {
    /// The number of the attempt, counted from 1.
    public var attempt: Int
    /// The method.
    public var method: HTTPMethod
    /// The URL; nil where it is not shown.
    public var url: String?
    /// The header of the request; empty where it is not shown.
    public var headers: [Field] = []
    /// The body of the request; nil where there is none. One that is not shown has a note alone.
    public var body: Body?
    /// The response; nil where none came.
    public var response: Response?
    /// The failure in one line; nil where there was none or it is not shown.
    public var failure: String?
    /// The time from the start of the call to the request, before it waited for a slot; in seconds where it is encoded, as are the
    /// next ones.
    public var sent: Duration
    /// The time from the start of the call to the head of the response; nil where none came.
    public var answered: Duration?
    /// The time from the start of the call to the end of the exchange, with the body; nil where that is not known.
    public var ended: Duration?
    /// The time that the attempt took, for its last request.
    public var duration: Duration?
    /// The time that the request waited for slots; nil where it belongs to no call.
    public var queued: Duration?
    /// The timings of the transfer, for the last request of its attempt, where it was measured.
    public var timings: TransferTimings?
  }
}

extension RecordedCall.Exchange {
  /// About the bytes that it takes in memory.
  var size: Int {
    func size(_ body: RecordedCall.Body?) -> Int { (body?.text?.utf8.count ?? 0) + (body?.data?.count ?? 0) }
    let fields = (headers + (response?.headers ?? []) + (response?.trailers ?? [])).reduce(0) {
      $0 + $1.name.utf8.count + $1.value.utf8.count + 48
    }
    return 600 + fields + size(body) + size(response?.body)
  }
}

extension Redaction {
  /// The lines of a header, secrets hidden.
  func recorded(_ headers: HTTPHeaders) -> [RecordedCall.Field] {
    headers.map { RecordedCall.Field(name: $0.name.rawName, value: value(of: $0)) }
  }

  /// A body of at most `limit` bytes, secrets hidden.
  func recorded(_ data: Data, type: MediaType?, limit: Int) -> RecordedCall.Body {
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
  /// True for pictures, sound, films and fonts, but for those that are text, as image/svg+xml is.
  fileprivate var isMedia: Bool {
    let essence = essence
    return !isText && ["image/", "audio/", "video/", "font/"].contains { essence.hasPrefix($0) }
  }
}
