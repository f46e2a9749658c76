package import Errand

/// Checks the events of all calls of all servers that are made in its scope, and keeps none of them.
///
///     let audit = EventAudit()
///     try await audit.watching { … }
///     #expect(await eventually { audit.isAtRest } && audit.problems.isEmpty)
package final class EventAudit: TaskObserver {
  private let balance = Lock(EventBalance())

  /// An audit that has seen nothing.
  package init() {}

  /// At once: what is dropped cannot be checked.
  package var delivery: ObserverDelivery { .inline }

  /// Checks the event.
  package func observe(_ event: TaskEvent) { balance.withLock { $0.note(event) } }

  /// Runs `body`; every server that it makes tells this as well.
  package func watching(_ body: () async throws -> Void) async rethrows {
    try await SurroundingObservers.$current.withValue(SurroundingObservers.current + [self], operation: body)
  }

  /// True while no call is under way.
  package var isAtRest: Bool { balance.withLock { $0.isAtRest } }

  /// The moments that started and have not ended, ended without having started, or came too late; empty when all is well.
  package var problems: [String] { balance.withLock { $0.problems } }
}
