public import Errand
public import Logging

/// Logs a line at the end of each call and a line for each retry decision.
///
///     await shop.update { $0.observers.append(CallLogger(Logger(label: "shop"))) }
///
/// | Moment | Level | Metadata |
/// |---|---|---|
/// | a successful call | `level` | `outcome`, `status`, `attempts`, `duration` |
/// | a failed call | `warning` | `outcome`, `status`, `error.type`, `attempts`, `duration` |
/// | a cancelled call | `debug` | the same |
/// | a retry, or the reason for not retrying | `debug` | `delay` |
///
/// All lines have `task` and `call`, and within a trace also `trace_id` and `span_id`. Times are in seconds. The status
/// is that of the last response, if any. Calls that share a request have their own lines, but the shared request has
/// none. The message is the ``CallMoment`` on one line with secrets redacted. Headers and bodies are not logged. A URL
/// is logged only if an error message contains it.
public struct CallLogger: TaskObserver {
  private let logger: Logger
  private let level: Logger.Level

  /// Creates an observer that logs to `logger`, with successful calls at `level`.
  public init(_ logger: Logger, level: Logger.Level = .info) {
    self.logger = logger
    self.level = level
  }

  /// Logs the end of a call or a retry decision.
  public func observe(_ event: TaskEvent) {
    guard let level = level(of: event) else { return }
    logger.log(level: level, "\(event.moment)", metadata: Self.metadata(of: event))
  }

  /// Returns the level, or `nil` if the event is not logged.
  private func level(of event: TaskEvent) -> Logger.Level? {
    switch event.moment {
    case .callEnded where event.isInternal: nil  // the calls that share it log their own ends
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
      metadata["outcome"] = .string(outcome.name)
      metadata["duration"] = .stringConvertible(event.time / .seconds(1))
      let attempts = event.record?.attempts ?? []
      metadata["attempts"] = .stringConvertible(attempts.count)
      if let status = outcome.status ?? attempts.last?.status { metadata["status"] = .stringConvertible(status.code) }
      if let type = event.errorType { metadata["error.type"] = .string(type) }
    default: break
    }
    if let span = event.span {
      metadata["trace_id"] = .stringConvertible(span.context.traceID)
      metadata["span_id"] = .stringConvertible(span.context.spanID)
    }
    return metadata
  }
}

extension CallOutcome {
  fileprivate var name: String {
    switch self {
    case .succeeded: "succeeded"
    case .failed: "failed"
    case .cancelled: "cancelled"
    }
  }

  /// The status of a successful call, or `nil` if the call failed or had no response.
  fileprivate var status: HTTPStatus? { if case .succeeded(let status) = self { status } else { nil } }
}
