import ErrandFoundation

extension HTTPRequest {
  /// The maximum size of a request head, in bytes: the method, the URL, and the name and value of each header field
  /// plus 12 bytes.
  ///
  /// Most servers accept only 8 to 32 KiB. libcurl's own limits are 64 KiB for a header block over HTTP/2, counted this
  /// way, and 128 KiB for a head over TLS.
  public static let maximumHeadSize = 60 << 10

  /// Checks the request and returns its origin. A transport calls this first.
  ///
  /// Throws ``TaskError`` with code `.badRequest` or `.badURL` if the method, a header field or a credential would
  /// corrupt the message, if `Content-Length` does not match the body, if the method does not allow a body, if the head
  /// is too large, or if the URL has no valid origin. Nothing has been sent in that case.
  public func checkedOrigin() throws -> Origin {
    try check()
    return try origin()
  }

  /// Throws if the method, a header field, a credential or a trailer field is invalid.
  package func check() throws {
    if method != .get { try checkMethod() }  // GET is always valid
    let size =
      method.rawValue.utf8.count + url.absoluteString.utf8.count + headers.size + (options.digest?.user.utf8.count ?? 0)
    if size > Self.maximumHeadSize { throw tooLarge(size) }
    if let field = headers.firstInvalid {
      let fault = field.name.isValid ? "has a line break or a NUL in its value" : "has an invalid name"
      throw refusal("the header field \(field.name.rawName.shortened.debugDescription) \(fault)")
    }
    for field in headers where field.name.isOfFraming { try checkFraming(field) }
    if let digest = options.digest { try digest.check(for: "Digest") }
    if let name = body.trailers?.forbidden?.rawName.shortened {
      throw refusal("\(name.debugDescription) cannot be a trailer field: send it as a header field")
    }
  }

  /// Checks a field that the transport sets itself. A `Content-Length` that matches the body is ignored. Anything else
  /// is rejected (RFC 9112 §6).
  private func checkFraming(_ field: HTTPHeaders.Field) throws {
    let name = field.name.rawName
    guard field.name == .contentLength else {
      throw refusal(
        "the header field \"\(name)\" is set by the transport: remove it (a body without a length is sent in chunks)")
    }
    let length = try body.checkedLength()
    if let length, field.value == "\(length)" { return }
    throw refusal(
      "the header field \"\(name)\" is '\(field.value.shortened)', but the body has \(length.map { "\($0)" } ?? "an unknown number of") bytes: remove the field, or set the length of the stream"
    )
  }

  private func checkMethod() throws {
    if method == .connect {
      throw refusal("the method CONNECT is not allowed: only the transport itself uses it, for proxies")
    }
    if !method.isValid {
      throw refusal("the method \(method.rawValue.shortened.debugDescription) is not a valid HTTP method name")
    }
    // RFC 9113 §3.4: the HTTP/2 connection preface starts with PRI.
    if method.rawValue == "PRI" { throw refusal("the method PRI is not allowed: it is reserved for HTTP/2") }
    // RFC 9110 §9.3.2 and §9.3.8. libcurl would send PUT instead of HEAD.
    if !body.isEmpty, method == .head || method == .trace {
      throw refusal("a \(method) request cannot have a body: remove the body, or use another method")
    }
  }

  private func refusal(_ reason: String) -> TaskError {
    TaskError(.badRequest, reason, phase: .preparing, wasNotSent: true)
  }

  private func tooLarge(_ size: Int) -> TaskError {
    let length = url.absoluteString.utf8.count
    let field = headers.max { $0.size < $1.size }
    let isURL = length >= field?.size ?? 0
    let largest = isURL ? "the URL" : "the header field \((field?.name.rawName ?? "").shortened.debugDescription)"
    return TaskError(
      isURL ? .badURL : .badRequest,
      "the request head has \(size) bytes, which exceeds the limit of \(Self.maximumHeadSize); its largest part is \(largest) with \(isURL ? length : field?.size ?? 0) bytes: send that data in the body",
      phase: .preparing, wasNotSent: true)
  }

  package func origin() throws -> Origin {
    switch Origin.reading(url) {
    case .success(let origin): return origin
    case .failure(let refusal):
      let scheme = url.scheme?.lowercased() ?? ""
      let isOther = !scheme.isEmpty && scheme != "http" && scheme != "https"
      let reason =
        isOther
        ? "has the scheme \(scheme.shortened), but only http and https are supported"
        : "has no valid host: \(refusal.rawValue)"
      throw TaskError(
        .badURL, "'\(Redaction.standard(url).shortened)' \(reason)", phase: .preparing, wasNotSent: true)
    }
  }

  /// Returns the request with the host of its URL normalized. `origin` is the request's own origin.
  package func addressed(to origin: Origin) -> HTTPRequest {
    let address = origin.address(of: url)
    guard address != url.absoluteString, let url = URL(string: address) else { return self }
    var request = self
    request.url = url
    return request
  }
}
