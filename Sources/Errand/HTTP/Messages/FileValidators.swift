/// The version of a downloaded file, which is stored next to it in a hidden file that only this user can read.
struct FileValidators: Equatable {
  /// Identifies the request: the URL and the fields that selected the representation.
  let mark: String
  let varying: [HTTPHeaderName]
  let eTag: String
  let lastModified: String

  /// Adds conditions, unless there are some already. Returns whether it did.
  func add(to headers: inout HTTPHeaders) -> Bool {
    guard !headers.contains(.ifNoneMatch), !headers.contains(.ifModifiedSince) else { return false }
    if !eTag.isEmpty { headers[.ifNoneMatch] = eTag }
    if !lastModified.isEmpty { headers[.ifModifiedSince] = lastModified }
    return true
  }

  func remove(from headers: inout HTTPHeaders) {
    headers.remove(.ifNoneMatch)
    headers.remove(.ifModifiedSince)
  }

  /// Whether a request's conditions name this version.
  func isNamed(by headers: HTTPHeaders) -> Bool {
    (headers[.ifNoneMatch] ?? "") == eTag && (headers[.ifModifiedSince] ?? "") == lastModified
  }

  static func validators(in headers: HTTPHeaders) -> (eTag: String, lastModified: String) {
    (headers.tagForCopy?.text ?? "", headers.dateForCopy ?? "")
  }

  /// Whether a response has this version.
  func isVersion(in headers: HTTPHeaders) -> Bool {
    let other = Self.validators(in: headers)
    return eTag.isEmpty || other.eTag.isEmpty ? other == (eTag, lastModified) : other.eTag == eTag
  }
}
