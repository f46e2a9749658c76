/// The place of a call in a trace; see ``TraceContext``.
public final class CallSpan: Sendable {
  /// The context of what happens within the call: its hooks, its steps, and the calls that these make.
  public let context: TraceContext
  /// The span around the call; nil where the trace begins with it.
  public let parent: SpanID?

  /// What the record of the call does not keep, and its spans say.
  package struct Notes: Sendable {
    /// The first request of each attempt.
    package fileprivate(set) var lines: [RequestLine] = []
    /// New connections, in order.
    package fileprivate(set) var connections: [Connection] = []
  }

  /// A moment in the making of a connection.
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

  /// The span of an attempt, which the request names as its parent.
  public func attempt(_ number: Int) -> SpanID { context.spanID.part(number) }

  package var notes: Notes { kept.withLock { $0 } }

  /// Keeps a request, where it is the first of its attempt.
  package func note(_ line: RequestLine) {
    kept.withLock { notes in
      if !notes.lines.contains(where: { $0.attempt == line.attempt }) { notes.lines.append(line) }
    }
  }

  /// Keeps a moment in the making of a connection.
  package func note(_ connection: Connection) { kept.withLock { $0.connections.append(connection) } }

  /// The span of a call that begins here; nil outside of a trace where no observer starts one.
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

/// The part of the new traces that an observer records.
public struct TraceSampling: Sendable, Hashable {
  /// From 0 to 1; below 0 where no trace is begun.
  private let share: Double

  /// No trace is begun for the observer.
  public static let none = TraceSampling(share: -1)
  /// Every one.
  public static let all = TraceSampling(share: 1)

  /// This part of them, from 0 to 1, chosen by their identifiers.
  public static func share(_ share: Double) -> TraceSampling { TraceSampling(share: min(1, max(0, share))) }

  /// That of the one that records more.
  package func union(_ other: TraceSampling) -> TraceSampling { share < other.share ? other : self }

  /// Whether a trace is recorded.
  package func samples(_ trace: TraceID) -> Bool {
    // Its last seven bytes are random (level 2).
    Double(trace.low & 0x00FF_FFFF_FFFF_FFFF) * 0x1p-56 < share
  }
}
