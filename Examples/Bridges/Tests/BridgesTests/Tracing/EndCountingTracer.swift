import Tracing

import class Foundation.NSLock

/// A tracer that counts how often each of its spans is ended, which must be once, and injects the given headers.
final class EndCountingTracer: Tracer {
  private let lock = NSLock()
  /// Protected by the lock.
  private nonisolated(unsafe) var counts: [Int] = []
  private let fields: KeyValuePairs<String, String>

  init(sending fields: KeyValuePairs<String, String> = [:]) { self.fields = fields }

  /// How often each span was ended, in the order in which the spans started.
  var ends: [Int] { lock.withLock { counts } }

  func startSpan<Instant: TracerInstant>(
    _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
    at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
  ) -> CountedSpan {
    let number = lock.withLock {
      counts.append(0)
      return counts.count - 1
    }
    return CountedSpan(context: context()) { self.lock.withLock { self.counts[number] += 1 } }
  }

  func forceFlush() {}

  func inject<Carrier, Inject: Injector>(
    _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
  ) where Inject.Carrier == Carrier {
    for (name, value) in fields { injector.inject(value, forKey: name, into: &carrier) }
  }

  func extract<Carrier, Extract: Extractor>(
    _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
  ) where Extract.Carrier == Carrier {}
}
