/// A call's span in a trace; see ``TraceContext``.
public final class CallSpan: Sendable {
  /// The trace context of the call's hooks and steps, and of the calls that they make.
  public let context: TraceContext
  /// The parent span. `nil` if this call started the trace.
  public let parent: SpanID?

  /// Data that spans need but the flight record doesn't contain.
  package struct Notes: Sendable {
    package fileprivate(set) var lines: [RequestLine] = []
    package fileprivate(set) var connections: [Connection] = []
  }

  package struct Connection: Sendable {
    package let attempt: Int
    package let time: Duration
    package let moment: CallMoment
  }

  private let kept = Lock(Notes())

  private init(_ context: TraceContext, parent: SpanID?) {
    self.context = context
    self.parent = parent
  }

  /// Returns the span ID of an attempt, which the request sends as its parent ID.
  public func attempt(_ number: Int) -> SpanID { context.spanID.part(number) }

  package var notes: Notes { kept.withLock { $0 } }

  package func note(_ line: RequestLine) {
    kept.withLock { notes in
      if !notes.lines.contains(where: { $0.attempt == line.attempt }) { notes.lines.append(line) }
    }
  }

  package func note(_ connection: Connection) { kept.withLock { $0.connections.append(connection) } }

  /// Creates the span of a call. Outside a trace, returns `nil` unless `sampling` allows new traces.
  @inline(__always)
  package static func here(_ sampling: TraceSampling, _ random: CallRandom) -> CallSpan? {
    let parent = TraceContext.current
    guard parent != nil || sampling != .none else { return nil }
    return below(parent, sampling, random)
  }

  private static func below(_ parent: TraceContext?, _ sampling: TraceSampling, _ random: CallRandom) -> CallSpan? {
    let spanID = SpanID(nonZero: random.bits())
    if var context = parent {
      context.spanID = spanID
      return CallSpan(context, parent: parent?.spanID)
    }
    guard let traceID = TraceID(high: random.bits(), low: random.bits()) else { return nil }
    let context = TraceContext(
      traceID: traceID, spanID: spanID, isSampled: sampling.samples(traceID), isRandom: true)
    return CallSpan(context, parent: nil)
  }
}

/// The fraction of new traces that an observer records.
public struct TraceSampling: Sendable, Hashable {
  /// A fraction from 0 to 1. Negative if no traces are started.
  private let share: Double

  /// Starts no traces.
  public static let none = TraceSampling(share: -1)
  /// Records every trace.
  public static let all = TraceSampling(share: 1)

  /// Records the given fraction of traces, from 0 to 1, selected by trace ID.
  public static func share(_ share: Double) -> TraceSampling { TraceSampling(share: min(1, max(0, share))) }

  package func union(_ other: TraceSampling) -> TraceSampling { share < other.share ? other : self }

  package func samples(_ trace: TraceID) -> Bool {
    // The last seven bytes are random (Trace Context Level 2).
    Double(trace.low & 0x00FF_FFFF_FFFF_FFFF) * 0x1p-56 < share
  }
}
