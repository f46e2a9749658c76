extension HTTPHeaders: CustomStringConvertible {
  /// The fields, one per line, with secrets hidden by ``Redaction/standard``.
  public var description: String { fields.map { "\($0)" }.joined(separator: "\n") }
}

extension HTTPHeaders.Field: CustomStringConvertible {
  /// The name and value, with secrets hidden.
  public var description: String { "\(name): \(Redaction.standard.value(of: self))" }
}

extension HTTPQuery: CustomStringConvertible {
  /// The query as it appears in a URL, with secrets hidden.
  public var description: String { Redaction.standard.pairs(encoded[...]) }
}

extension HTTPQuery.Item: CustomStringConvertible {
  /// The name and value as they appear in a URL, with secrets hidden.
  public var description: String { "\(HTTPQuery([self]))" }
}

extension HTTPRequest: CustomStringConvertible {
  /// The method and URL, followed by one line per header field. Secrets are hidden and the body is omitted.
  public var description: String {
    let fields = headers.map {
      options.credentialHeaders.contains($0.name) ? "\($0.name): \(Redaction.mark)" : "\($0)"
    }
    return (["\(method) \(Redaction.standard(url))"] + fields).joined(separator: "\n")
  }
}

extension Redirect: CustomStringConvertible {
  /// The method, URL and status, with secrets hidden.
  public var description: String { "\(method) \(Redaction.standard(url)): \(status)" }
}

extension HTTPResponse: CustomStringConvertible {
  /// The status and URL, followed by one line per header field. Secrets are hidden and the body is omitted.
  public var description: String {
    (["\(status) \(Redaction.standard(url))"] + headers.map { "\($0)" }).joined(separator: "\n")
  }
}
