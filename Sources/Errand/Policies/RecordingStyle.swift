/// What a recording or an echo shows of an exchange.
public struct RecordingStyle: OptionSet, Sendable, Hashable {
  /// The parts that are shown, as bits.
  public let rawValue: Int

  /// The parts that are shown, as bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The URL.
  public static let url = RecordingStyle(rawValue: 1)
  /// The header fields of request and response.
  public static let headers = RecordingStyle(rawValue: 2)
  /// The body of the request.
  public static let upload = RecordingStyle(rawValue: 4)
  /// The body of the response.
  public static let download = RecordingStyle(rawValue: 8)
  /// Everything, redacted.
  public static let full: RecordingStyle = [.url, .headers, .upload, .download]
  /// Nothing but that the task ran, its method, its status and its time.
  public static let hidden: RecordingStyle = []
}
