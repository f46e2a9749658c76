extension HTTPHeaders: CustomStringConvertible {
  /// One line a field, secrets hidden as ``Redaction/standard`` has it.
  public var description: String { fields.map { "\($0)" }.joined(separator: "\n") }
}

extension HTTPHeaders.Field: CustomStringConvertible {
  /// Name and value, secrets hidden.
  public var description: String { "\(name): \(Redaction.standard.value(of: self))" }
}

extension HTTPQuery: CustomStringConvertible {
  /// The query as it stands in a URL, secrets hidden.
  public var description: String { Redaction.standard.pairs(encoded[...]) }
}

extension HTTPQuery.Item: CustomStringConvertible {
  /// Name and value as they stand in a URL, secrets hidden.
  public var description: String { "\(HTTPQuery([self]))" }
}

extension HTTPRequest: CustomStringConvertible {
  /// Method and URL, then one line a header field; secrets hidden, without the body.
  public var description: String {
    let fields = headers.map {
      options.credentialHeaders.contains($0.name) ? "\($0.name): \(Redaction.mark)" : "\($0)"
    }
    return (["\(method) \(Redaction.standard(url))"] + fields).joined(separator: "\n")
  }
}

extension HTTPResponse: CustomStringConvertible {
  /// Status and URL, then one line a header field; secrets hidden, without the body.
  public var description: String {
    (["\(status) \(Redaction.standard(url))"] + headers.map { "\($0)" }).joined(separator: "\n")
  }
}
