/// The parts of an exchange that a transport may show in its recording: those that the task shows, secrets hidden as the server has it.
final class ShownParts: Sendable {
  let redaction: Redaction
  let style: RecordingStyle

  init(_ redaction: Redaction, _ style: RecordingStyle = .full) {
    self.redaction = redaction
    self.style = style
  }

  /// Those of a request; all where nothing is said of it.
  static func of(_ request: HTTPRequest) -> ShownParts? { request.options.showing as? ShownParts }
}
