/// How much a server logs. Each moment of a call is logged as one line.
public enum LogStyle: Int, Sendable, Hashable, Comparable, CaseIterable {
  /// Logs nothing.
  case none
  /// Logs the start and the end of every call.
  case short
  /// Logs every moment of every call.
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
