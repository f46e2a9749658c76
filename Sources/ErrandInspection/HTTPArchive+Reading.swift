public import Errand
public import ErrandFoundation

// Archives from other programs may omit required fields.

extension HTTPArchive.Creator {
  /// Decodes the program name and version. Missing fields are empty.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: FieldName.self)
    self.init(name: try fields.value("name", or: ""), version: try fields.value("version", or: ""))
  }
}

extension HTTPArchive.Entry {
  /// Decodes an entry.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: FieldName.self)
    startedDateTime = try fields.value("startedDateTime", or: "")
    time = try fields.value("time", or: 0)
    request = try fields.decode(HTTPArchive.Request.self, forKey: "request")
    response = try fields.decode(HTTPArchive.Response.self, forKey: "response")
    timings = try fields.value("timings", or: HTTPArchive.Timings())
    serverIPAddress = try fields.decodeIfPresent(String.self, forKey: "serverIPAddress")
    comment = try fields.decodeIfPresent(String.self, forKey: "comment")
    // In other programs' archives, these fields can have any type.
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
  /// Decodes a request. Every field except the method and the URL is optional.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: FieldName.self)
    method = try fields.decode(String.self, forKey: "method")
    url = try fields.decode(String.self, forKey: "url")
    httpVersion = try fields.value("httpVersion", or: "")
    cookies = try fields.value("cookies", or: [ReadField]()).map(\.pair)
    headers = HTTPHeaders(try fields.value("headers", or: [ReadField]()))
    queryString = try fields.value("queryString", or: [ReadField]()).map(\.pair)
    postData = try fields.decodeIfPresent(HTTPArchive.PostData.self, forKey: "postData")
    headersSize = try fields.value("headersSize", or: -1)
    bodySize = try fields.value("bodySize", or: -1)
  }
}

extension HTTPArchive.PostData {
  /// Decodes a body. If it has no text, the text is built from the form parameters.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: FieldName.self)
    mimeType = try fields.value("mimeType", or: "")
    let params = try fields.value("params", or: [ReadField]())
    let written = try fields.value("text", or: "")
    let isMultipart = mimeType.lowercased().hasPrefix("multipart/")
    if params.contains(where: { $0.fileName != nil }) || written.isEmpty && !params.isEmpty && isMultipart {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "Cannot read a multipart form that has no `text`."))
    }
    let form = HTTPBody.form(HTTPQuery(params.map { .init($0.pair.name, $0.pair.value) }))
    text = written.isEmpty ? String(decoding: form.data ?? Data(), as: UTF8.self) : written
    encoding = try fields.decodeIfPresent(String.self, forKey: "_encoding")
    comment = try fields.decodeIfPresent(String.self, forKey: "comment")
  }
}

extension HTTPArchive.Response {
  /// Decodes a response. Every field is optional.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: FieldName.self)
    status = try fields.value("status", or: 0)
    statusText = try fields.value("statusText", or: "")
    httpVersion = try fields.value("httpVersion", or: "")
    cookies = try fields.value("cookies", or: [ReadField]()).map(\.pair)
    headers = HTTPHeaders(try fields.value("headers", or: [ReadField]()))
    content = try fields.value("content", or: HTTPArchive.Content(size: -1, mimeType: ""))
    redirectURL = try fields.value("redirectURL", or: "")
    headersSize = try fields.value("headersSize", or: -1)
    bodySize = try fields.value("bodySize", or: -1)
    trailers = (try? fields.value("_trailers", or: [ReadField]())).map { HTTPHeaders($0) }
    if trailers?.isEmpty == true { trailers = nil }
  }
}

extension HTTPArchive.Content {
  /// Decodes a response's body.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: FieldName.self)
    size = try fields.value("size", or: -1)
    mimeType = try fields.value("mimeType", or: "")
    text = try fields.decodeIfPresent(String.self, forKey: "text")
    encoding = try fields.decodeIfPresent(String.self, forKey: "encoding")
    comment = try fields.decodeIfPresent(String.self, forKey: "comment")
  }

  /// The bytes of the body. `nil` if the archive does not contain them.
  public var data: Data? { Self.data(text, encoding) }

  static func data(_ text: String?, _ encoding: String?) -> Data? {
    guard let text else { return nil }
    return encoding == "base64" ? Data(base64Encoded: text, options: .ignoreUnknownCharacters) : Data(text.utf8)
  }
}

extension HTTPArchive.Timings {
  /// Decodes the phases. Missing phases get their default values.
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

/// A header field, cookie or form parameter whose value may be missing.
private struct ReadField: Decodable {
  let pair: HTTPArchive.Pair
  let fileName: String?

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: FieldName.self)
    pair = HTTPArchive.Pair(name: try fields.value("name", or: ""), value: try fields.value("value", or: ""))
    fileName = try fields.decodeIfPresent(String.self, forKey: "fileName")
  }
}

extension HTTPHeaders {
  fileprivate init(_ fields: [ReadField]) {
    self.init(fields.map { Field(HTTPHeaderName($0.pair.name), $0.pair.value) })
  }
}

/// A coding key from a string. Required because synthesized keys are visible only in the file that declares their type.
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
  /// A request that can be sent. `nil` if its URL is invalid or the archive does not contain its body. Secrets that are
  /// hidden in the archive stay hidden.
  public var httpRequest: HTTPRequest? {
    guard let url = URL(string: request.url) else { return nil }
    var headers = Self.headers(request.headers)
    guard let body = sentBody(announced: headers.number(.contentLength)) else { return nil }
    headers.removeFraming()  // which describes the body as transferred
    return HTTPRequest(HTTPMethod(request.method), url, headers: headers, body: body)
  }

  private func sentBody(announced length: Int64?) -> HTTPBody? {
    guard let post = request.postData else {
      let size = request.bodySize < 0 ? length.map { Int($0) } ?? 0 : request.bodySize
      return size > 0 ? nil : .empty
    }
    if post.text.isEmpty, request.bodySize > 0 || post.comment != nil { return nil }
    return HTTPArchive.Content.data(post.text, post.encoding).map { .bytes($0) }
  }

  /// The response, with its body decompressed. `nil` if no response arrived, its URL is invalid, or the archive does
  /// not contain its body.
  public var httpResponse: HTTPResponse? {
    let method = HTTPMethod(request.method)
    guard missing(for: method) == nil, method == .head || !wasStreamed else { return nil }
    return recordedResponse
  }

  /// The response with the recorded part of its body. `nil` if no response arrived or its URL is invalid.
  var recordedResponse: HTTPResponse? {
    guard (100...999).contains(response.status), let url = URL(string: request.url) else { return nil }
    var headers = Self.headers(response.headers)
    // These fields describe the body as transferred. For HEAD, they describe the body that GET would return.
    if HTTPMethod(request.method) != .head {
      for name in [HTTPHeaderName.contentEncoding, .contentLength, .transferEncoding] { headers.remove(name) }
    }
    return HTTPResponse(
      HTTPStatus(response.status), url: url, headers: headers, version: HTTPVersion(rawValue: response.httpVersion),
      body: HTTPResponseBody(response.content.data ?? Data(), trailers: Self.headers(response.trailers ?? [:])))
  }

  /// Returns the reason why the body of a response to this method is missing. Returns `nil` if the body is present or
  /// not needed.
  func missing(for method: HTTPMethod) -> String? {
    // RFC 9110 §6.4.1: these responses have no body, regardless of the size that a tool records.
    guard method != .head, (100...999).contains(response.status), ![204, 304].contains(response.status) else {
      return nil
    }
    let content = response.content
    if content.text != nil { return content.data == nil ? "it is not valid Base64" : nil }
    if content.size > 0 || content.comment != nil { return content.comment ?? "it was not recorded" }
    return wasStreamed && failure == nil ? "it was streamed" : nil
  }

  /// Whether the body was streamed, in which case the recorder did not see it.
  var wasStreamed: Bool {
    let hasBody = (200..<300).contains(response.status) && ![204, 205].contains(response.status)
    return response.content.text == nil && response.content.size < 0 && hasBody && response.bodySize != 0
  }

  /// Returns the header fields without the HTTP/2 pseudo-header fields that browsers include.
  private static func headers(_ fields: HTTPHeaders) -> HTTPHeaders {
    HTTPHeaders(fields.filter { !$0.name.rawName.hasPrefix(":") })
  }
}
