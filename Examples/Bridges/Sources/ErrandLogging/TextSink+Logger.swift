public import Errand
public import Logging

extension TextSink {
  /// A sink that hands each piece of text to a logger, secrets hidden as anywhere else.
  ///
  ///     await shop.update {
  ///       $0.log = TextSink(logger: logger, level: .debug)
  ///       $0.echoesTasks = true
  ///     }
  ///
  /// An echo is one message of several lines. For one line a call, with metadata, take a ``CallLogger``.
  public init(logger: Logger, level: Logger.Level = .info) {
    self.init { text in logger.log(level: level, "\(text)") }
  }
}
