import ErrandFoundation

/// A snapshot of a server's connections and calls.
///
///     let gauges = await shop.gauges()
///     print(gauges.connections.idle, gauges.waiting)
///
/// Calls, attempts and streams are counted per manager, so the numbers include all servers that share the manager.
public struct ServerGauges: Sendable, Hashable {
  /// A snapshot for one origin.
  public struct Host: Sendable, Hashable {
    /// The connection counts. Zero if the transport does not count connections.
    public internal(set) var connections = ConnectionCounts()
    /// The number of attempts that hold a slot.
    public internal(set) var running = 0
    /// The number of attempts waiting for a slot or a stream.
    public internal(set) var waiting = 0
    /// The number of open streams.
    public internal(set) var streams = 0
  }

  /// The number of running calls, including those that are waiting.
  public internal(set) var calls = 0
  /// The number of attempts that hold a slot.
  public internal(set) var running = 0
  /// The number of attempts waiting for a slot or a stream.
  public internal(set) var waiting = 0
  /// The number of open streams.
  public internal(set) var streams = 0
  /// The origins with a connection, an attempt or a stream.
  public internal(set) var hosts: [Origin: Host] = [:]

  /// The total connection counts of all origins.
  public var connections: ConnectionCounts {
    hosts.values.reduce(into: ConnectionCounts()) { sum, host in
      sum.add(host.connections)
    }
  }

  init(calls: Int, _ throttle: ThrottleSnapshot, _ connections: [String: ConnectionCounts]) {
    self.calls = calls
    (running, waiting, streams) = (throttle.running, throttle.waiting, throttle.streams)
    for (origin, host) in throttle.hosts {
      hosts[origin] = Host(running: host.running, waiting: host.waiting, streams: host.streams)
    }
    for (address, counts) in connections {
      guard let origin = URL(string: address).flatMap({ Origin($0) }) else { continue }
      hosts[origin, default: Host()].connections = counts
    }
  }
}

extension Server {
  /// Returns the current gauges.
  public nonisolated func gauges() async -> ServerGauges {
    ServerGauges(calls: manager.callCount, manager.throttle, await transport.connections())
  }

  /// Returns an async sequence that reads the gauges repeatedly.
  ///
  /// The sequence does not retain the server and ends when the server is released.
  ///
  /// - Parameter interval: The time between two readings, measured by the manager's clock. At least 10 ms.
  /// - Returns: The current gauges, followed by every reading that differs from the previous one.
  public nonisolated func gauges(every interval: Duration) -> GaugeReadings {
    GaugeReadings(server: self, interval: interval)
  }
}

/// An async sequence of a server's gauges. See ``Server/gauges(every:)``.
public struct GaugeReadings: AsyncSequence, Sendable {
  /// A reading of the gauges.
  public typealias Element = ServerGauges

  private let clock: CallClock
  private let interval: Duration
  private weak let server: Server?

  init(server: Server, interval: Duration) {
    clock = server.manager.clock
    self.interval = Swift.max(interval, .milliseconds(10))
    self.server = server
  }

  /// Creates an iterator.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(readings: self) }

  /// Iterates over the readings.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let readings: GaugeReadings
    private var last: ServerGauges?

    fileprivate init(readings: GaugeReadings) { self.readings = readings }

    /// Returns the next reading that differs from the previous one, or `nil` if the server is released or the task is
    /// cancelled.
    public mutating func next() async -> ServerGauges? {
      while !Task.isCancelled {
        if last != nil { do { try await readings.clock.sleep(for: readings.interval) } catch { return nil } }
        guard let gauges = await readings.server?.gauges() else { return nil }
        guard gauges != last else { continue }
        last = gauges
        return gauges
      }
      return nil
    }
  }
}
