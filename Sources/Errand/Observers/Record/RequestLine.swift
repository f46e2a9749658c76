import ErrandFoundation

/// A request's method and URL, for display.
public struct RequestLine: Sendable, CustomStringConvertible {
  /// The number of the attempt that sends the request.
  public let attempt: Int
  /// The method.
  public let method: HTTPMethod
  /// The URL's origin. `nil` if the URL has no origin or is hidden.
  public var origin: Origin? { address.flatMap { Origin($0) } }
  /// The URL, with secrets hidden, or `<hidden>` if the task's ``RecordingStyle`` hides the URL.
  public var url: String { address.map { redaction($0) } ?? RequestLine.hidden }

  static let hidden = "<hidden>"

  /// The URL. `nil` if hidden.
  private let address: URL?
  private let redaction: Redaction

  package init(_ request: HTTPRequest, of attempt: Int, _ redaction: Redaction, isHidden: Bool = false) {
    self.attempt = attempt
    method = request.method
    address = isHidden ? nil : request.url
    self.redaction = redaction
  }

  /// The method and URL.
  public var description: String { method.rawValue + " " + url }
}
