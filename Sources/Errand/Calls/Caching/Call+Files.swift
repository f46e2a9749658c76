import ErrandFoundation

extension Call {
  /// The conditions under which the call's file is replaced; none unless the task asks for them.
  func addFileConditions(to request: inout HTTPRequest) {
    guard case .file(.exact(let file)) = delivery, request.method == .get else { return }
    let selection = withoutCredentials(request)
    let known = FileValidators.of(file).flatMap { known in
      known.mark == Self.mark(of: request.url, known.varying, in: selection) ? known : nil
    }
    state.withLock { state in
      state.fileSelection = selection
      state.hasCurrentFile = known != nil
    }
    known?.add(to: &request.headers)
  }

  /// The fields of a request by which its file may be chosen: the file is the same for all accounts.
  private func withoutCredentials(_ request: HTTPRequest) -> HTTPHeaders {
    let redaction = snapshot.configuration.redaction
    return HTTPHeaders(request.headers.filter { !redaction.keepsHome($0, named: request.options.credentialHeaders) })
  }

  /// True where the response says that the call's file is still good: one that a redirect leads to is about another file.
  func isFileCurrent(_ response: HTTPResponse) -> Bool {
    response.status == .notModified && response.redirects.isEmpty && state.withLock { $0.hasCurrentFile }
  }

  /// Puts a file in its place, and notes by what it is known there. Returns the place.
  func publish(_ file: PartialFile) throws -> URL {
    if plan.keepsCurrentFile {
      let stamp = file.stamp
      state.withLock { $0.fileStamp = stamp }
    }
    return try file.publish()
  }

  /// Keeps what is known of the version of the call's file.
  func keepFileValidators(_ response: HTTPResponse) {
    guard plan.keepsCurrentFile, case .file(.exact(let file)) = delivery, response.status == .ok else { return }
    let (stamp, selection) = state.withLock { ($0.fileStamp, $0.fileSelection ?? [:]) }
    let validators = FileValidators(response.headers) { Self.mark(of: response.url, $0, in: selection) }
    FileValidators.keep(validators, for: file, stamp: stamp)
  }

  // RFC 9111 §4.1.
  /// The URL and the fields of a request, as they stand beside the file: hashed, for there may be a token in them, and without the
  /// password of the URL, which could be guessed.
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
  /// A file as a stored response: stale, without anything to validate it by, and good enough where its server fails.
  static func preloaded(_ file: URL) -> CacheEntry? {
    guard let data = try? Data(contentsOf: file) else { return nil }  // then there is none
    let headers: HTTPHeaders = [
      .cacheControl: "stale-if-error=\(DeltaSeconds.largest)", .contentLength: "\(data.count)",
    ]
    let long = Date(timeIntervalSince1970: 0)
    return CacheEntry(
      id: "", StoredResponse(status: .ok, headers: headers, requestTime: long, responseTime: long), body: data)
  }
}
