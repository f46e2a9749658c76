import ErrandFoundation

extension Call {
  /// Returns the request, conditional on the current version of the call's file if it selects that version. A step that
  /// has changed the call's conditions keeps its own.
  func withFileConditions(_ request: HTTPRequest) -> HTTPRequest {
    guard plan.keepsCurrentFile else { return request }
    var request = request
    if let named = request.options.fileVersion {
      request.options.fileVersion = nil
      guard named.isNamed(by: request.headers) else { return request }
      named.remove(from: &request.headers)
    }
    if let version = fileVersion(for: request), version.add(to: &request.headers) {
      request.options.fileVersion = version
    }
    return request
  }

  /// Returns the request for the cache, and records the header fields that select the file, in case the cache answers.
  func selectingFile(_ request: HTTPRequest) -> HTTPRequest {
    guard plan.keepsCurrentFile else { return request }
    let request = withFileConditions(request)
    let selection = withoutCredentials(request)
    state.withLock { $0.selection = selection }
    return request
  }

  /// The version of the call's file, if it is known and the request selects it. A part can't be compared with the entire
  /// file.
  func fileVersion(for request: HTTPRequest) -> FileValidators? {
    guard let version = trackedFile.flatMap({ FileValidators.of($0) }), request.method == .get,
      !request.headers.contains(.range),
      version.mark == Self.mark(of: request.url, version.varying, in: withoutCredentials(request))
    else { return nil }
    return version
  }

  /// The call's file, if the call keeps it current.
  private var trackedFile: URL? {
    if plan.keepsCurrentFile, case .file(.exact(let file)) = destination { file } else { nil }
  }

  /// Returns the header fields that can select the file, without credentials: the file is the same for all accounts.
  private func withoutCredentials(_ request: HTTPRequest) -> HTTPHeaders {
    let redaction = snapshot.configuration.redaction
    return HTTPHeaders(request.headers.filter { !redaction.keepsHome($0, named: request.options.credentialHeaders) })
  }

  /// Whether the response confirms that the call's file is current. `false` if the app has changed the file in the
  /// meantime. Another call may have downloaded a newer version.
  func isFileCurrent(_ response: HTTPResponse) -> Bool {
    guard let confirmed = response.confirmedVersion, let file = trackedFile else { return false }
    return FileValidators.of(file)?.mark == confirmed.mark
  }

  /// Moves the file to its destination, and records its version if the call keeps the file current. Returns the
  /// destination.
  func publish(_ file: PartialFile, from response: HTTPResponse) throws -> URL {
    guard let url = trackedFile, response.status == .ok else { return try file.publish() }
    let (stamp, place) = (file.stamp, try file.publish())
    let selection = response.request.map { withoutCredentials($0) } ?? state.withLock { $0.selection }
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
