extension HTTPRequest: CustomStringConvertible {
  /// Method and URL, then one line a header field; secrets hidden, without the body.
  public var description: String {
    (["\(method) \(Redaction.standard(url))"] + headers.map { "\($0)" }).joined(separator: "\n")
  }
}

extension HTTPResponse: CustomStringConvertible {
  /// Status and URL, then one line a header field; secrets hidden, without the body.
  public var description: String {
    (["\(status) \(Redaction.standard(url))"] + headers.map { "\($0)" }).joined(separator: "\n")
  }
}
