/// The parts of an exchange shown in a recording or an echo.
public struct RecordingStyle: OptionSet, Sendable, Hashable {
  /// The parts as a bit mask.
  public let rawValue: Int

  /// Creates a style from a bit mask.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The URL.
  public static let url = RecordingStyle(rawValue: 1)
  /// The header fields of the request and the response.
  public static let headers = RecordingStyle(rawValue: 2)
  /// The body of the request.
  public static let upload = RecordingStyle(rawValue: 4)
  /// The body of the response.
  public static let download = RecordingStyle(rawValue: 8)
  /// Everything, with secrets redacted.
  public static let full: RecordingStyle = [.url, .headers, .upload, .download]
  /// Only the task's name, method, status and duration.
  public static let hidden: RecordingStyle = []
}

/// Whether an exchange is echoed.
public enum EchoStyle: Sendable, Hashable {
  /// The server's setting.
  case inherited
  /// No echo.
  case none
  /// The request and the response, with secrets redacted.
  case full
}

/// Limits for a folder of recordings. 0 means no limit. The oldest recordings are removed first, and the newest is
/// always kept.
public struct RecordingLimits: Sendable, Hashable {
  /// The maximum number of files.
  public var count: Int
  /// The maximum age, measured from the start of the call.
  public var age: Duration
  /// The maximum total size in bytes, without the index.
  public var bytes: Int

  /// Creates limits. Defaults to 1,000 recordings and 256 MiB, with no age limit.
  public init(count: Int = 1000, age: Duration = .zero, bytes: Int = 256 << 20) {
    self.count = count
    self.age = age
    self.bytes = bytes
  }

  /// No limits: all recordings are kept.
  public static let unlimited = RecordingLimits(count: 0, age: .zero, bytes: 0)
}
