import ErrandFoundation

/// The method and the URL of a request, as people may see them.
public struct RequestLine: Sendable, CustomStringConvertible {
  /// The number of the attempt.
  public let attempt: Int
  /// The method.
  public let method: HTTPMethod
  /// The destination; nil for a URL that has none.
  public var origin: Origin? { Origin(address) }
  /// The URL, secrets hidden.
  public var url: String { redaction(address) }

  private let address: URL
  private let redaction: Redaction

  package init(_ request: HTTPRequest, of attempt: Int, _ redaction: Redaction) {
    self.attempt = attempt
    method = request.method
    address = request.url
    self.redaction = redaction
  }

  /// Both.
  public var description: String { "\(method) \(url)" }
}
