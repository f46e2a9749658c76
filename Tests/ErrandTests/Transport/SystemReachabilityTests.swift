import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct SystemReachabilityTests {
  /// Counts the monitors that are started and released, and reports changes through them.
  private final class Monitors: Sendable {
    final class Monitor: Sendable {
      private let released: @Sendable () -> Void

      init(released: @escaping @Sendable () -> Void) { self.released = released }

      deinit { released() }
    }

    private struct State {
      var started = 0
      var released = 0
      var onChange: (@Sendable () -> Void)?
    }

    private let state = Shared(State())

    var started: Int { state.withLock { $0.started } }
    var released: Int { state.withLock { $0.released } }

    func changes() -> NetworkChanges {
      NetworkChanges { [self] onChange in
        state.withLock { state in
          state.started += 1
          state.onChange = onChange
        }
        return Monitor { [state] in state.withLock { $0.released += 1 } }
      }
    }

    func report() { state.withLock { $0.onChange }?() }
  }

  private func wait(_ changes: NetworkChanges, _ clock: ManualClock) throws -> Task<Void, any Error> {
    let origin = try #require(Origin(.known("https://shop.test")))
    let reachability = SystemReachability(polling: PollingReachability(), changes: changes)
    return Task { try await reachability.waitUntilReachable(origin, failures: 1, clock: CallClock(clock)) }
  }

  @Test func `all waits share a monitor and end when the network changes`() async throws {
    let (monitors, clock) = (Monitors(), ManualClock())
    let changes = monitors.changes()
    let waits = try (0..<3).map { _ in try wait(changes, clock) }
    await clock.sleepers(count: 3)
    // A wait for the network may begin after the wait for the clock.
    #expect(await eventually { changes.waiterCount == 3 })
    #expect(monitors.started == 1 && monitors.released == 0)
    monitors.report()
    for wait in waits { try await wait.value }
    #expect(monitors.started == 1 && monitors.released == 1)
  }

  @Test func `the monitor is released after the last wait and started again for the next wait`() async throws {
    let (monitors, clock) = (Monitors(), ManualClock())
    let changes = monitors.changes()
    for round in 1...2 {
      let wait = try wait(changes, clock)
      #expect(await eventually { changes.waiterCount == 1 })
      wait.cancel()
      await #expect(throws: CancellationError.self) { try await wait.value }
      #expect(monitors.started == round && monitors.released == round)
    }
  }

  @Test(arguments: [true, false]) func `polls whether or not the system provides a monitor`(isRefused: Bool)
    async throws
  {
    let (monitors, clock) = (Monitors(), ManualClock())
    let wait = try wait(isRefused ? NetworkChanges { _ in nil } : monitors.changes(), clock)
    await clock.pass(.milliseconds(500), sleepers: 1)
    try await wait.value
    #expect(monitors.started == monitors.released)
  }

  @Test func `system reachability is the default`() {
    let reachability = ServerConfiguration().reachability as? SystemReachability
    #expect(reachability?.polling is PollingReachability)
  }

  #if os(Linux)
    /// Returns a netlink message with interface flags.
    private static func message(_ type: UInt16, flags: UInt32 = 0, extra: Int = 0) -> [UInt8] {
      let size = UInt32(32 + extra)
      var bytes = withUnsafeBytes(of: size, Array.init) + withUnsafeBytes(of: type, Array.init)
      bytes += [UInt8](repeating: 0, count: 18) + withUnsafeBytes(of: flags, Array.init)
      return bytes + [UInt8](repeating: 0, count: (4 + extra + 3) & ~3)
    }

    @Test(arguments: [
      (message(16, flags: 0x49), true), (message(16, flags: 0x1), false), (message(20), true), (message(21), false),
      (message(17, flags: 0x49), false), (message(17, extra: 3) + message(20), true), ([], false),
      ([0, 0, 0, 0] + message(20), false), (Array(message(20).dropLast()), false),
    ])
    func `recognizes kernel messages about running interfaces and new addresses`(
      datagram: [UInt8], reports: Bool
    ) {
      #expect(datagram.withUnsafeBytes { NetlinkMonitor.reportsNetwork($0) } == reports)
    }

    @Test func `the kernel permits several concurrent monitors`() {
      let monitors = (0..<2).map { _ in NetlinkMonitor {} }
      #expect(!monitors.contains { $0 == nil })
    }
  #endif
}
