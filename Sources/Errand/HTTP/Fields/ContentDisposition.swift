import ErrandFoundation

/// The `Content-Disposition` field (RFC 6266; for parts of forms RFC 7578 §4.2).
public struct ContentDisposition: Sendable, Hashable {
  /// `attachment`, `inline` or `form-data`, in lower case.
  public let type: String
  /// The parameters by their names in lower case, the first of each name, as they were sent.
  public let parameters: [String: String]

  /// The value of a field; nil where it has no type.
  public init?(_ value: String) {
    var scanner = FieldScanner(value)
    scanner.skipBlanks()
    guard let type = scanner.token() else { return nil }
    self.type = type.lowercased()
    parameters = Dictionary(scanner.parameters().map { ($0.0, $0.1 ?? "") }, uniquingKeysWith: { first, _ in first })
  }

  /// The name of a part of a form.
  public var name: String? { parameters["name"] }

  /// The name that the sender gives the file, as it was sent: it may hold folders, and is not to be used as a path. That with a
  /// charset counts first (RFC 6266 §4.3).
  public var fileName: String? {
    parameters["filename*"].flatMap { ExtendedValue.text(of: $0) } ?? parameters["filename"]
  }
}

extension HTTPResponse {
  /// A name for a file with this body, safe to be used in any folder.
  ///
  /// It is the last part of what `Content-Disposition` says, else of the URL's path, else `download`; with the extension of the
  /// media type where it has none. Slashes of either kind, control characters, and dots and blanks at its ends are taken out, and it
  /// has at most 200 bytes.
  public var suggestedFileName: String {
    let stated = headers[.contentDisposition].flatMap { ContentDisposition($0)?.fileName }
    return SafeFileName.suggestion(of: [stated, url.path(percentEncoded: false)], for: mediaType)
  }
}
