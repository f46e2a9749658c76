#if os(Linux)
  import CCurl
  import ErrandFoundation
  import Synchronization

  /// Closes a connection that keeps its loop busy forever.
  ///
  /// Over HTTP/2, libcurl 7.88 reads a socket until it is empty. A peer that sends frames such as PING or SETTINGS
  /// faster than they are handled keeps libcurl from returning. As a result, no timeout fires, and all other transfers
  /// on the loop stall. Only another thread can detect this.
  ///
  /// The watchdog checks ten times a second while a loop has streams. It measures the loop's processor time, not
  /// wall-clock time, so a busy machine doesn't trigger it. It closes the connection with the highest number of bytes
  /// read. That may not be the connection that libcurl was called for, because libcurl also reads other connections
  /// that are due.
  final class CurlWatchdog: Sendable {
    /// Written by the loop and read by the watchdog.
    final class Pulse: Sendable {
      /// Incremented when libcurl is called and when it returns. Odd while libcurl is running.
      fileprivate let turn = Atomic<UInt64>(0)
      fileprivate let connections = Lock(Connections())
      fileprivate let streams = Atomic<Int>(0)
      fileprivate let thread = Atomic<UInt>(0)

      func begin() { thread.store(UInt(pthread_self()), ordering: .releasing) }

      func enter() { turn.wrappingAdd(1, ordering: .relaxed) }

      func leave() { turn.wrappingAdd(1, ordering: .relaxed) }

      func opened(_ descriptor: Int32) {
        connections.withLock { connections in
          connections.open.insert(descriptor)
          connections.ended.remove(descriptor)
        }
      }

      func closing(_ descriptor: Int32) { connections.withLock { _ = $0.open.remove(descriptor) } }

      /// Whether the watchdog closed the last connection with this descriptor.
      func hasEnded(_ descriptor: Int32) -> Bool { connections.withLock { $0.ended.contains(descriptor) } }
    }

    fileprivate struct Connections {
      var open: Set<Int32> = []
      var ended: Set<Int32> = []
      /// The number of bytes read from each connection when the current call to libcurl was first seen.
      var read: [Int32: UInt64] = [:]

      mutating func remember() {
        read.removeAll(keepingCapacity: true)
        for descriptor in open { read[descriptor] = ccurl_bytes_read(descriptor) }
      }

      /// Closes the connection with the highest number of bytes read since then. The lock keeps the descriptor from
      /// being reused.
      mutating func endBusiest() {
        func growth(_ descriptor: Int32) -> UInt64 {
          read[descriptor].map { ccurl_bytes_read(descriptor) &- $0 } ?? 0
        }
        let busiest = open.map { (growth: growth($0), descriptor: $0) }.max { $0.growth < $1.growth }
        guard let busiest, busiest.growth > 0 else { return }
        shutdown(busiest.descriptor, Int32(SHUT_RDWR))
        ended.insert(busiest.descriptor)
      }
    }

    static let shared = CurlWatchdog()

    /// The maximum processor time for one call to libcurl, in nanoseconds.
    private static let limit: UInt64 = 250_000_000

    private struct State {
      var pulses: [Pulse] = []
      var isRunning = false
    }

    private let state = Lock(State())

    func join(_ pulse: Pulse) {
      guard pulse.streams.wrappingAdd(1, ordering: .relaxed).newValue == 1 else { return }
      let isNew = state.withLock { state in
        if !state.pulses.contains(where: { $0 === pulse }) { state.pulses.append(pulse) }
        defer { state.isRunning = true }
        return !state.isRunning
      }
      // If this fails, stalls are not detected.
      if isNew { _ = DetachedThread.start("errand-watchdog") { [self] in run() } }
    }

    func leave(_ pulse: Pulse) { pulse.streams.wrappingSubtract(1, ordering: .relaxed) }

    private func run() {
      var seen: [ObjectIdentifier: (turn: UInt64, time: UInt64)] = [:]
      while true {
        usleep(100_000)
        let busy = state.withLock { state in
          state.pulses.removeAll { $0.streams.load(ordering: .relaxed) == 0 }
          if state.pulses.isEmpty { state.isRunning = false }
          return state.pulses
        }
        guard !busy.isEmpty else { return }
        for pulse in busy { check(pulse, &seen[ObjectIdentifier(pulse)]) }
      }
    }

    private func check(_ pulse: Pulse, _ last: inout (turn: UInt64, time: UInt64)?) {
      let turn = pulse.turn.load(ordering: .relaxed)
      guard turn % 2 == 1, let time = Self.processorTime(of: pulse) else {
        last = nil
        return
      }
      guard let begun = last, begun.turn == turn else {
        last = (turn, time)
        return pulse.connections.withLock { $0.remember() }
      }
      guard time - begun.time > Self.limit else { return }
      pulse.connections.withLock { connections in
        if pulse.turn.load(ordering: .relaxed) == turn { connections.endBusiest() }
      }
      last = nil
    }

    private static func processorTime(of pulse: Pulse) -> UInt64? {
      let thread = pulse.thread.load(ordering: .acquiring)
      let time = thread == 0 ? 0 : ccurl_thread_time(thread)
      return time == 0 ? nil : time
    }
  }
#endif
