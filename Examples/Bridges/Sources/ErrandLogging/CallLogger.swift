public import Errand
public import Logging

/// Logs one line per call, at its end, and one per decision on a retry.
///
///     await shop.update { $0.observers.append(CallLogger(Logger(label: "shop"))) }
///
/// | Moment | Level | Metadata |
/// |---|---|---|
/// | a call that gave its result | `level` | `outcome`, `status`, `attempts`, `duration` |
/// | one that failed | `warning` | `outcome`, `status`, `error.type`, `attempts`, `duration` |
/// | one that was cancelled | `debug` | the same |
/// | a retry, or the reason why there is none | `debug` | `delay` |
///
/// All of them have `task` and `call`, and `trace_id` and `span_id` where the call takes part in a trace. Times are in seconds,
/// and the status is the last one, where there was a response. Calls that share a request have a line each, and the request no
/// other. The words are those of ``CallMoment``, secrets hidden, on one line. Header fields and bodies are not logged, and URLs
/// only where the words of a failure have one.
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
    guard let level = level(of: event) else { return }
    logger.log(level: level, "\(event.moment)", metadata: Self.metadata(of: event))
  }

  /// Nil for what is not logged.
  private func level(of event: TaskEvent) -> Logger.Level? {
    switch event.moment {
    case .callEnded where event.isInternal: nil  // those that it was made for have ends of their own
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

  /// The status of a result; nil for a failure, and where no response came.
  fileprivate var status: HTTPStatus? { if case .succeeded(let status) = self { status } else { nil } }
}
