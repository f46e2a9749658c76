/// The parts of an exchange that a recording or an echo shows.
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

/// The echo of an exchange: none, or in full.
public enum EchoStyle: Sendable, Hashable {
  /// As the server says.
  case inherited
  /// Not at all.
  case none
  /// Request and response, redacted.
  case full
}

/// The limits of a folder of recordings; 0 is no limit. The oldest are removed first, the newest always stays.
public struct RecordingLimits: Sendable, Hashable {
  /// The most files.
  public var count: Int
  /// The greatest age, counted from the start of the call.
  public var age: Duration
  /// The most bytes in all, the index not counted.
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
