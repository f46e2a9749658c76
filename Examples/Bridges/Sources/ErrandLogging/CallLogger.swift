public import Errand
public import Logging

/// Logs one line per call, at its end, and one per decision on a retry.
///
///     await shop.update { $0.observers.append(CallLogger(Logger(label: "shop"))) }
///
/// | Moment | Level | Metadata |
/// |---|---|---|
/// | a call that gave its result | `level` | `outcome`, `status`, `duration` |
/// | one that failed | `warning` | `outcome`, `error.type`, `duration` |
/// | one that was cancelled | `debug` | `outcome`, `error.type`, `duration` |
/// | a retry, or the reason why there is none | `debug` | `delay` |
///
/// All of them have `task` and `call`, and `trace_id` and `span_id` where the call takes part in a trace. Times are in seconds.
/// The words are those of ``CallMoment``, whose secrets are hidden. URLs, header fields and bodies are not logged.
///
/// The number of attempts is missing, for events do not say it; nor do those of failures say the status.
public struct CallLogger: TaskObserver {
  private let logger: Logger
  private let level: Logger.Level

  /// Logs to `logger`: calls that gave their result at `level`.
  public init(_ logger: Logger, level: Logger.Level = .info) {
    self.logger = logger
    self.level = level
  }

  /// Logs the end of a call, or the decision on a retry.
  public func observe(_ event: TaskEvent) {
    guard let level = level(of: event.moment) else { return }
    logger.log(level: level, "\(Self.line(event.moment))", metadata: Self.metadata(of: event))
  }

  /// Nil for what is not logged.
  private func level(of moment: CallMoment) -> Logger.Level? {
    switch moment {
    case .callEnded(.succeeded): level
    case .callEnded(.failed): .warning
    case .callEnded(.cancelled), .delayStarted, .retryRefused: .debug
    default: nil
    }
  }

  private static func metadata(of event: TaskEvent) -> Logger.Metadata {
    var metadata: Logger.Metadata = ["task": .string(event.task), "call": .stringConvertible(event.call)]
    switch event.moment {
    case .delayStarted(let delay, _): metadata["delay"] = .stringConvertible(delay / .seconds(1))
    case .callEnded(let outcome):
      metadata["outcome"] = .string(name(of: outcome))
      metadata["duration"] = .stringConvertible(event.time / .seconds(1))
      if case .succeeded(let status?) = outcome { metadata["status"] = .stringConvertible(status.code) }
      if let type = event.errorType { metadata["error.type"] = .string(type) }
    default: break
    }
    if let span = event.span {
      metadata["trace_id"] = .stringConvertible(span.context.traceID)
      metadata["span_id"] = .stringConvertible(span.context.spanID)
    }
    return metadata
  }

  private static func name(of outcome: CallOutcome) -> String {
    switch outcome {
    case .succeeded: "succeeded"
    case .failed: "failed"
    case .cancelled: "cancelled"
    }
  }

  /// The moment on one line: a failure may quote what a server sent, and a line break or an escape sequence would forge another.
  private static func line(_ moment: CallMoment) -> String {
    var line = String.UnicodeScalarView()
    for scalar in "\(moment)".unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: line.append(" ")
      default: line.append(scalar)
      }
    }
    return String(line)
  }
}
