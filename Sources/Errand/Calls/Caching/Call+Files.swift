import ErrandFoundation

extension Call {
  /// Adds conditions so that the call's file is downloaded only if it has changed. Adds none if the file's version is
  /// unknown.
  func addFileConditions(to request: inout HTTPRequest) {
    guard case .file(.exact(let file)) = destination, request.method == .get else { return }
    let selection = withoutCredentials(request)
    // A part can't be compared with the entire file.
    let known = (plan.range == nil ? FileValidators.of(file) : nil).flatMap { known in
      known.mark == Self.mark(of: request.url, known.varying, in: selection) ? known : nil
    }
    state.withLock { state in
      state.file.selection = selection
      state.file.isCurrent = known != nil
    }
    known?.add(to: &request.headers)
  }

  /// Returns the header fields that can select the file, without credentials: the file is the same for all accounts.
  private func withoutCredentials(_ request: HTTPRequest) -> HTTPHeaders {
    let redaction = snapshot.configuration.redaction
    return HTTPHeaders(request.headers.filter { !redaction.keepsHome($0, named: request.options.credentialHeaders) })
  }

  /// Whether the call's file has a known version, which the request names.
  var hasCurrentFile: Bool { state.withLock { $0.file.isCurrent } }

  /// Whether the response confirms that the call's file is current. `false` after a redirect, because the redirect may
  /// point to a different file.
  func isFileCurrent(_ response: HTTPResponse) -> Bool {
    response.status == .notModified && response.redirects.isEmpty && hasCurrentFile
  }

  /// Moves the file to its destination, and records its version if the call keeps the file current. Returns the
  /// destination.
  func publish(_ file: PartialFile, from response: HTTPResponse) throws -> URL {
    guard plan.keepsCurrentFile, case .file(.exact(let url)) = destination, response.status == .ok else {
      return try file.publish()
    }
    let (stamp, place) = (file.stamp, try file.publish())
    let selection = state.withLock { $0.file.selection }
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
