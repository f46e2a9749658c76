import ErrandFoundation

/// The detail in which a server logs every call, one line a moment.
public enum LogStyle: Int, Sendable, Hashable, Comparable, CaseIterable {
  /// Nothing.
  case none
  /// The start and the end of every call.
  case short
  /// Every moment of every call.
  case steps

  /// Less logs before more.
  public static func < (left: LogStyle, right: LogStyle) -> Bool { left.rawValue < right.rawValue }

  func includes(_ moment: CallMoment) -> Bool {
    switch (self, moment) {
    case (.none, _): false
    case (.steps, _), (.short, .callStarted), (.short, .callEnded): true
    case (.short, _): false
    }
  }
}

/// The destination of text for people: echoes and log lines.
public struct TextSink: Sendable {
  private let put: @Sendable (String) -> Void

  /// A sink that hands each piece of text to `put`; called from any thread, one piece a call.
  public init(_ put: @escaping @Sendable (String) -> Void) { self.put = put }

  /// Hands on one piece of text.
  public func write(_ text: String) { put(text) }

  /// The standard output.
  public static let standardOutput = TextSink { Descriptor.put(Data("\($0)\n".utf8), into: STDOUT_FILENO) }
  /// The standard error.
  public static let standardError = TextSink { Descriptor.put(Data("\($0)\n".utf8), into: STDERR_FILENO) }
  /// Nowhere.
  public static let discard = TextSink { _ in }
}
