public import ErrandFoundation

// Archives of other programs lack what the format requires.

extension HTTPArchive.Creator {
  /// Reads the name of a program.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: FieldName.self)
    self.init(name: try fields.value("name", or: ""), version: try fields.value("version", or: ""))
  }
}

extension HTTPArchive.Entry {
  /// Reads an entry.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: FieldName.self)
    startedDateTime = try fields.value("startedDateTime", or: "")
    time = try fields.value("time", or: 0)
    request = try fields.decode(HTTPArchive.Request.self, forKey: "request")
    response = try fields.decode(HTTPArchive.Response.self, forKey: "response")
    timings = try fields.value("timings", or: HTTPArchive.Timings())
    serverIPAddress = try fields.decodeIfPresent(String.self, forKey: "serverIPAddress")
    comment = try fields.decodeIfPresent(String.self, forKey: "comment")
    // Those of other programs may be of any type.
    call = try? fields.decodeIfPresent(Int.self, forKey: "_call")
    task = try? fields.decodeIfPresent(String.self, forKey: "_task")
    attempt = try? fields.decodeIfPresent(Int.self, forKey: "_attempt")
    wasResent = try? fields.decodeIfPresent(Bool.self, forKey: "_resent")
    cacheUse = try? fields.decodeIfPresent(String.self, forKey: "_cache")
    failure = try? fields.decodeIfPresent(String.self, forKey: "_error")
    timeline = try? fields.decodeIfPresent([String].self, forKey: "_timeline")
    diagnosis = try? fields.decodeIfPresent(String.self, forKey: "_diagnosis")
  }
}

extension HTTPArchive.Request {
  /// Reads a request; all but its method and its URL may be missing.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: FieldName.self)
    method = try fields.decode(String.self, forKey: "method")
    url = try fields.decode(String.self, forKey: "url")
    httpVersion = try fields.value("httpVersion", or: "")
    cookies = try fields.value("cookies", or: [ReadField]()).map(\.field)
    headers = try fields.value("headers", or: [ReadField]()).map(\.field)
    queryString = try fields.value("queryString", or: [ReadField]()).map(\.field)
    postData = try fields.decodeIfPresent(HTTPArchive.PostData.self, forKey: "postData")
    headersSize = try fields.value("headersSize", or: -1)
    bodySize = try fields.value("bodySize", or: -1)
  }
}

extension HTTPArchive.PostData {
  /// Reads a body; the parameters of a form stand for its text where it has none.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: FieldName.self)
    mimeType = try fields.value("mimeType", or: "")
    let params = try fields.value("params", or: [ReadField]())
    let written = try fields.value("text", or: "")
    let isMultipart = mimeType.lowercased().hasPrefix("multipart/")
    if params.contains(where: { $0.fileName != nil }) || written.isEmpty && !params.isEmpty && isMultipart {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "A form in parts has no text, and cannot be read."))
    }
    let form = HTTPBody.form(HTTPQuery(params.map { .init($0.field.name, $0.field.value) }))
    text = written.isEmpty ? String(decoding: form.data ?? Data(), as: UTF8.self) : written
    encoding = try fields.decodeIfPresent(String.self, forKey: "_encoding")
    comment = try fields.decodeIfPresent(String.self, forKey: "comment")
  }
}

extension HTTPArchive.Response {
  /// Reads a response; all of it may be missing.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: FieldName.self)
    status = try fields.value("status", or: 0)
    statusText = try fields.value("statusText", or: "")
    httpVersion = try fields.value("httpVersion", or: "")
    cookies = try fields.value("cookies", or: [ReadField]()).map(\.field)
    headers = try fields.value("headers", or: [ReadField]()).map(\.field)
    content = try fields.value("content", or: HTTPArchive.Content(size: -1, mimeType: ""))
    redirectURL = try fields.value("redirectURL", or: "")
    headersSize = try fields.value("headersSize", or: -1)
    bodySize = try fields.value("bodySize", or: -1)
    trailers = try? fields.value("_trailers", or: [ReadField]()).map(\.field)
    if trailers?.isEmpty == true { trailers = nil }
  }
}

extension HTTPArchive.Content {
  /// Reads a body.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: FieldName.self)
    size = try fields.value("size", or: -1)
    mimeType = try fields.value("mimeType", or: "")
    text = try fields.decodeIfPresent(String.self, forKey: "text")
    encoding = try fields.decodeIfPresent(String.self, forKey: "encoding")
    comment = try fields.decodeIfPresent(String.self, forKey: "comment")
  }

  /// The bytes of the body; nil where the archive does not have them.
  public var data: Data? { Self.data(text, encoding) }

  static func data(_ text: String?, _ encoding: String?) -> Data? {
    guard let text else { return nil }
    return encoding == "base64" ? Data(base64Encoded: text, options: .ignoreUnknownCharacters) : Data(text.utf8)
  }
}

extension HTTPArchive.Timings {
  /// Reads the parts; those that are missing do not apply.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: FieldName.self)
    blocked = try fields.value("blocked", or: -1)
    dns = try fields.value("dns", or: -1)
    connect = try fields.value("connect", or: -1)
    send = try fields.value("send", or: 0)
    wait = try fields.value("wait", or: 0)
    receive = try fields.value("receive", or: 0)
    ssl = try fields.value("ssl", or: -1)
  }
}

/// A field, a cookie, or a parameter of a form, that may lack its value.
private struct ReadField: Decodable {
  let field: RecordedCall.Field
  /// The name of the file that a parameter is; nil for text.
  let fileName: String?

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: FieldName.self)
    field = RecordedCall.Field(name: try fields.value("name", or: ""), value: try fields.value("value", or: ""))
    fileName = try fields.decodeIfPresent(String.self, forKey: "fileName")
  }
}

/// The name of a field: the keys that the compiler writes are known in the file of their type alone.
private struct FieldName: CodingKey, ExpressibleByStringLiteral {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringLiteral value: String) { stringValue = value }
  init?(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

extension KeyedDecodingContainer<FieldName> {
  fileprivate func value<Value: Decodable>(_ key: FieldName, or standard: Value) throws -> Value {
    try decodeIfPresent(Value.self, forKey: key) ?? standard
  }
}

extension HTTPArchive.Entry {
  /// The request as it can be sent; nil where its URL is none, or the archive does not have its body. Secrets are in it as the
  /// archive has them.
  public var httpRequest: HTTPRequest? {
    guard let url = URL(string: request.url) else { return nil }
    var headers = Self.headers(request.headers)
    guard let body = sentBody(announced: headers.number(.contentLength)) else { return nil }
    headers.removeFraming()  // of the body as it went over the wire
    return HTTPRequest(HTTPMethod(request.method), url, headers: headers, body: body)
  }

  /// The body of the request; nil where the archive does not have it.
  private func sentBody(announced length: Int64?) -> HTTPBody? {
    guard let post = request.postData else {
      let size = request.bodySize < 0 ? length.map { Int($0) } ?? 0 : request.bodySize
      return size > 0 ? nil : .empty
    }
    if post.text.isEmpty, request.bodySize > 0 || post.comment != nil { return nil }
    return HTTPArchive.Content.data(post.text, post.encoding).map { .bytes($0) }
  }

  /// The response as it came, its body unpacked; nil where none did, its URL is none, or the archive does not have its body.
  public var httpResponse: HTTPResponse? {
    let method = HTTPMethod(request.method)
    guard missing(for: method) == nil, method == .head || !wasStreamed else { return nil }
    return recordedResponse
  }

  /// The response with as much of its body as the archive has; nil where none came, or its URL is none.
  var recordedResponse: HTTPResponse? {
    guard (100...999).contains(response.status), let url = URL(string: request.url) else { return nil }
    var headers = Self.headers(response.headers)
    // They describe the body as it went over the wire; where there is none, the one that there would be.
    if HTTPMethod(request.method) != .head {
      for name in [HTTPHeaderName.contentEncoding, .contentLength, .transferEncoding] { headers.remove(name) }
    }
    return HTTPResponse(
      HTTPStatus(response.status), url: url, headers: headers, version: HTTPVersion(rawValue: response.httpVersion),
      body: HTTPResponseBody(response.content.data ?? Data(), trailers: Self.headers(response.trailers ?? [])))
  }

  /// The reason for which there is no body for an answer to this method; nil where there is one, or none is needed.
  func missing(for method: HTTPMethod) -> String? {
    // RFC 9110 §6.4.1: some have none, whatever size a tool writes.
    guard method != .head, (100...999).contains(response.status), ![204, 304].contains(response.status) else {
      return nil
    }
    let content = response.content
    if content.text != nil { return content.data == nil ? "it is no Base64" : nil }
    if content.size > 0 || content.comment != nil { return content.comment ?? "it was not recorded" }
    return wasStreamed && failure == nil ? "it was read as it came" : nil
  }

  /// True where the recorder of calls did not see the body, which was read as it came.
  var wasStreamed: Bool {
    let hasBody = (200..<300).contains(response.status) && ![204, 205].contains(response.status)
    return response.content.text == nil && response.content.size < 0 && hasBody && response.bodySize != 0
  }

  /// Without the pseudo-fields of HTTP/2, as browsers write them.
  private static func headers(_ fields: [RecordedCall.Field]) -> HTTPHeaders {
    HTTPHeaders(fields.filter { !$0.name.hasPrefix(":") }.map { .init(HTTPHeaderName($0.name), $0.value) })
  }
}
