/// The parts of an exchange that a transport can include in a recording, limited by the task's style and the server's
/// redaction.
package final class ShownParts: Sendable {
  package let redaction: Redaction
  package let style: RecordingStyle

  init(_ redaction: Redaction, _ style: RecordingStyle = .full) {
    self.redaction = redaction
    self.style = style
  }

  /// Returns the parts of a request to include, or `nil` to include everything.
  package static func of(_ request: HTTPRequest) -> ShownParts? { request.options.showing as? ShownParts }
}
