public import Errand
public import Logging

extension LogOutput {
  /// Creates a sink that passes text to a logger, with secrets redacted as usual.
  ///
  ///     await shop.update {
  ///       $0.log = LogOutput(logger: logger, level: .debug)
  ///       $0.echoesTasks = true
  ///     }
  ///
  /// An echo is one message with several lines. For one line per call with metadata, use ``CallLogger``.
  public init(logger: Logger, level: Logger.Level = .info) {
    self.init { text in logger.log(level: level, "\(text)") }
  }
}
