import ErrandFoundation

/// The method and the URL of a request, as people may see them.
public struct RequestLine: Sendable, CustomStringConvertible {
  /// The number of the attempt.
  public let attempt: Int
  /// The method.
  public let method: HTTPMethod
  /// The destination; nil for a URL that has none, or is not shown.
  public var origin: Origin? { address.flatMap { Origin($0) } }
  /// The URL, secrets hidden; `<hidden>` where the task's ``RecordingStyle`` does not show it.
  public var url: String { address.map { redaction($0) } ?? RequestLine.hidden }

  /// The words in place of what the task does not show.
  static let hidden = "<hidden>"

  /// Nil where it is not shown.
  private let address: URL?
  private let redaction: Redaction

  /// The line of a request; without its URL where that is hidden.
  package init(_ request: HTTPRequest, of attempt: Int, _ redaction: Redaction, isHidden: Bool = false) {
    self.attempt = attempt
    method = request.method
    address = isHidden ? nil : request.url
    self.redaction = redaction
  }

  /// Both.
  public var description: String { method.rawValue + " " + url }
}
