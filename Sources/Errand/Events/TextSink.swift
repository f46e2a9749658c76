import ErrandFoundation

/// The destination of text for people: echoes and log lines.
public struct TextSink: Sendable {
  /// True for a terminal: echoes come in colour there.
  public let isTerminal: Bool
  private let put: @Sendable (String) -> Void

  /// A sink that hands each piece of text to `put`; called from any thread, one piece a call.
  public init(isTerminal: Bool = false, _ put: @escaping @Sendable (String) -> Void) {
    self.isTerminal = isTerminal
    self.put = put
  }

  /// Hands on one piece of text.
  public func write(_ text: String) { put(text) }

  /// The standard output.
  public static let standardOutput = TextSink(descriptor: STDOUT_FILENO)
  /// The standard error.
  public static let standardError = TextSink(descriptor: STDERR_FILENO)
  /// Nowhere.
  public static let discard = TextSink { _ in }

  private init(descriptor: Int32) {
    let environment = ProcessInfo.processInfo.environment
    let isDumb = environment["TERM"] == "dumb" || environment["NO_COLOR"]?.isEmpty == false
    self.init(isTerminal: !isDumb && isatty(descriptor) == 1) { Descriptor.put(Data("\($0)\n".utf8), into: descriptor) }
  }
}
