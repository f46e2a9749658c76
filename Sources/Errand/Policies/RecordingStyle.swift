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

/// Whether an exchange is echoed.
public enum EchoStyle: Sendable, Hashable {
  /// As the server says.
  case inherited
  /// Not at all.
  case none
  /// Request and response, redacted.
  case full
}

/// How many recordings a folder keeps; 0 is no limit. The oldest go first, the newest stays whatever it is.
public struct RecordingLimits: Sendable, Hashable {
  /// How many files.
  public var count: Int
  /// How old they may be, counted from the start of the call.
  public var age: Duration
  /// How many bytes they have together, the index not counted.
  public var bytes: Int

  /// The thousand newest, of any age, up to 256 MiB, unless given.
  public init(count: Int = 1000, age: Duration = .zero, bytes: Int = 256 << 20) {
    self.count = count
    self.age = age
    self.bytes = bytes
  }

  /// Everything is kept.
  public static let unlimited = RecordingLimits(count: 0, age: .zero, bytes: 0)
}
