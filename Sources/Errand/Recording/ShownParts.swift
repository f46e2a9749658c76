/// The parts of an exchange that a transport can include in a recording, limited by the task's style and the server's
/// redaction.
final class ShownParts: Sendable {
  let redaction: Redaction
  let style: RecordingStyle

  init(_ redaction: Redaction, _ style: RecordingStyle = .full) {
    self.redaction = redaction
    self.style = style
  }

  /// Returns the parts of a request to include, or `nil` to include everything.
  static func of(_ request: HTTPRequest) -> ShownParts? { request.options.showing as? ShownParts }
}
