import ErrandFoundation

extension Call {
  /// The conditions under which the call's file is replaced; none unless the task asks for them.
  func addFileConditions(to request: inout HTTPRequest) {
    guard case .file(.exact(let file)) = delivery, request.method == .get, let known = FileValidators.of(file),
      known.url == Self.mark(of: request.url)
    else { return }
    known.add(to: &request.headers)
    state.withLock { $0.hasCurrentFile = true }
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
    let stamp = state.withLock { $0.fileStamp }
    FileValidators.keep(FileValidators(response.headers, of: Self.mark(of: response.url)), for: file, stamp: stamp)
  }

  /// The URL as it stands beside the file: hashed, for it may have a password or a token in it.
  private static func mark(of url: URL) -> String { SHA256.hexadecimal(of: url.absoluteString) }
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
