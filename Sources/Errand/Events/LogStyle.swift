/// The level of detail in a server's log, which has one line per moment of a call.
public enum LogStyle: Int, Sendable, Hashable, Comparable, CaseIterable {
  /// Nothing.
  case none
  /// The start and the end of every call.
  case short
  /// Every moment of every call.
  case steps

  /// Orders styles by the amount of output.
  public static func < (left: LogStyle, right: LogStyle) -> Bool { left.rawValue < right.rawValue }

  func includes(_ moment: CallMoment) -> Bool {
    switch (self, moment) {
    case (.none, _): false
    case (.steps, _), (.short, .callStarted), (.short, .callEnded): true
    case (.short, _): false
    }
  }
}
