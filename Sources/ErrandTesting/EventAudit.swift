package import Errand

/// Checks the events of all calls to all servers created in its scope, without storing the events.
///
///     let audit = EventAudit()
///     try await audit.watching { … }
///     #expect(await eventually { audit.isAtRest } && audit.problems.isEmpty)
package final class EventAudit: TaskObserver {
  private let balance = Lock(EventBalance())

  package init() {}

  /// Inline, because dropped events can't be checked.
  package var delivery: ObserverDelivery { .inline }

  package func observe(_ event: TaskEvent) { balance.withLock { $0.note(event) } }

  /// Runs `body`. Every server created by `body` reports to this audit.
  package func watching(_ body: () async throws -> Void) async rethrows {
    try await SurroundingObservers.$current.withValue(SurroundingObservers.current + [self], operation: body)
  }

  package var isAtRest: Bool { balance.withLock { $0.isAtRest } }

  /// The moments that did not end, ended without starting, or arrived too late. Empty if everything is correct.
  package var problems: [String] { balance.withLock { $0.problems } }
}
