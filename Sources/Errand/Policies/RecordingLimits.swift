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
