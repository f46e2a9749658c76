import ErrandFoundation

extension Call {
  /// Returns the request, conditional on the file's version if the call keeps its file current.
  func addingFileConditions(_ request: HTTPRequest) -> HTTPRequest {
    guard plan.keepsCurrentFile, case .file(.exact(let file)) = destination else { return request }
    let version = FileValidators.of(file)
    var request = request
    if let version, selects(request, version) { version.add(to: &request.headers) }
    state.withLock { [request] in $0.file = CallState.TrackedFile(version: version, request: request) }
    return request
  }

  /// Adds or removes the file's conditions, because a step may have changed what the request selects. A redirect may
  /// point to a different file.
  func renewFileConditions(of request: inout HTTPRequest, _ attempt: Int) {
    guard plan.keepsCurrentFile, let version = state.withLock({ $0.file })?.version else { return }
    if request.options.redirects.isEmpty, selects(request, version) {
      version.add(to: &request.headers)
    } else {
      version.remove(from: &request.headers)
    }
    record { [request] in $0.amend(request, of: attempt) }
  }

  /// Whether a request selects the file of that version. A part can't be compared with the entire file.
  private func selects(_ request: HTTPRequest, _ version: FileValidators) -> Bool {
    request.method == .get && !request.headers.contains(.range)
      && version.mark == Self.mark(of: request.url, version.varying, in: withoutCredentials(request))
  }

  /// Returns the header fields that can select the file, without credentials: the file is the same for all accounts.
  private func withoutCredentials(_ request: HTTPRequest) -> HTTPHeaders {
    let redaction = snapshot.configuration.redaction
    return HTTPHeaders(request.headers.filter { !redaction.keepsHome($0, named: request.options.credentialHeaders) })
  }

  /// Whether a stored response may replace the call's file. Another version than the file's may be older.
  func mayReplaceFile(with stored: HTTPHeaders, for request: HTTPRequest) -> Bool {
    guard plan.keepsCurrentFile, let version = state.withLock({ $0.file })?.version, selects(request, version) else {
      return true
    }
    return version.isVersion(in: stored)
  }

  /// Whether the response confirms that the call's file is current.
  func isFileCurrent(_ response: HTTPResponse) -> Bool {
    guard response.status == .notModified, response.redirects.isEmpty, let file = state.withLock({ $0.file }) else {
      return false
    }
    return file.version?.isNamed(by: (response.request ?? file.request).headers) ?? false
  }

  /// Moves the file to its destination, and records its version if the call keeps the file current. Returns the
  /// destination.
  func publish(_ file: PartialFile, from response: HTTPResponse) throws -> URL {
    guard plan.keepsCurrentFile, case .file(.exact(let url)) = destination, response.status == .ok else {
      return try file.publish()
    }
    let (stamp, place) = (file.stamp, try file.publish())
    let request = response.request ?? state.withLock { $0.file }?.request
    let selection = request.map { withoutCredentials($0) } ?? [:]
    let validators = FileValidators(response.headers) { Self.mark(of: response.url, $0, in: selection) }
    FileValidators.keep(validators, for: url, stamp: stamp)
    return place
  }

  /// Returns a hash of a request's URL and the fields that its response varies by (RFC 9111 §4.1), to be stored with
  /// the file. The values are hashed because they may contain a token. The URL's password is left out, because it could
  /// be guessed from the hash.
  private static func mark(of url: URL, _ varying: [HTTPHeaderName], in headers: HTTPHeaders)
    -> String
  {
    let fields = varying.map { name in
      "\n" + name.rawName.lowercased() + (Vary.value(of: name, in: headers).map { ": \($0)" } ?? "")
    }
    return SHA256.hexadecimal(of: CacheKey.text(of: url.absoluteString) + fields.joined())
  }
}

extension CacheEntry {
  /// Returns a file as a stored response: stale, without a validator, and used if the server fails.
  static func preloaded(_ file: URL) -> CacheEntry? {
    guard let data = try? Data(contentsOf: file) else { return nil }
    let headers: HTTPHeaders = [
      .cacheControl: "stale-if-error=\(DeltaSeconds.largest)", .contentLength: "\(data.count)",
    ]
    let long = Date(timeIntervalSince1970: 0)
    return CacheEntry(
      id: "", StoredResponse(status: .ok, headers: headers, requestTime: long, responseTime: long), body: data)
  }
}
