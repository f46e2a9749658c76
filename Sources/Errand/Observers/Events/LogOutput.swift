import ErrandFoundation

/// An output for human-readable text, such as echoes and log lines.
public struct LogOutput: Sendable {
  /// Whether the output is a terminal. Echoes on a terminal are colored.
  public let isTerminal: Bool
  private let put: @Sendable (String) -> Void

  /// Creates an output that passes each text to `put`, which can be called from any thread.
  public init(isTerminal: Bool = false, _ put: @escaping @Sendable (String) -> Void) {
    self.isTerminal = isTerminal
    self.put = put
  }

  /// Writes text to the output.
  public func write(_ text: String) { put(text) }

  /// Standard output.
  public static let standardOutput = LogOutput(descriptor: STDOUT_FILENO)
  /// Standard error.
  public static let standardError = LogOutput(descriptor: STDERR_FILENO)
  /// Discards everything.
  public static let discard = LogOutput { _ in }

  private init(descriptor: Int32) {
    let environment = ProcessInfo.processInfo.environment
    let isDumb = environment["TERM"] == "dumb" || environment["NO_COLOR"]?.isEmpty == false
    self.init(isTerminal: !isDumb && isatty(descriptor) == 1) { Descriptor.put(Data("\($0)\n".utf8), into: descriptor) }
  }
}
