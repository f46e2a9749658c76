import ErrandFoundation

/// The connections and calls of a server, at one moment.
///
///     let gauges = await shop.gauges()
///     print(gauges.connections.idle, gauges.waiting)
///
/// Calls, attempts and streams are those of the server's manager: of all servers that share it.
public struct ServerGauges: Sendable, Hashable {
  /// The same for one origin.
  public struct Host: Sendable, Hashable {
    /// The connections; none where the transport does not count them.
    public internal(set) var connections = ConnectionCounts()
    /// The attempts that hold a slot.
    public internal(set) var running = 0
    /// The attempts that wait for one, or for a stream.
    public internal(set) var waiting = 0
    /// The bodies that callers read as they come.
    public internal(set) var streams = 0
  }

  /// The calls under way, whatever they are doing.
  public internal(set) var calls = 0
  /// The attempts that hold a slot.
  public internal(set) var running = 0
  /// The attempts that wait for one, or for a stream.
  public internal(set) var waiting = 0
  /// The bodies that callers read as they come.
  public internal(set) var streams = 0
  /// The origins that have a connection, an attempt or a stream.
  public internal(set) var hosts: [Origin: Host] = [:]

  /// The connections to all of them.
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
  /// The connections and calls as they are now.
  public nonisolated func gauges() async -> ServerGauges {
    ServerGauges(calls: manager.callCount, manager.throttle, await transport.connections())
  }

  /// The gauges, read again and again.
  ///
  /// It does not hold the server, and ends with it.
  ///
  /// - Parameter interval: The time between two readings, by the manager's clock; at least 10 ms.
  /// - Returns: The present gauges, and then those that differ from the last.
  public nonisolated func gauges(every interval: Duration) -> GaugeReadings {
    GaugeReadings(server: self, interval: interval)
  }
}

/// The gauges of a server as they change; see ``Server/gauges(every:)``.
public struct GaugeReadings: AsyncSequence, Sendable {
  /// What was read.
  public typealias Element = ServerGauges

  private let clock: CallClock
  private let interval: Duration
  private weak let server: Server?

  init(server: Server, interval: Duration) {
    clock = server.manager.clock
    self.interval = Swift.max(interval, .milliseconds(10))
    self.server = server
  }

  /// Begins to read.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(readings: self) }

  /// Reads the gauges.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let readings: GaugeReadings
    private var last: ServerGauges?

    fileprivate init(readings: GaugeReadings) { self.readings = readings }

    /// The next gauges that differ from the last; nil when the server is gone, or the surrounding task is cancelled.
    public mutating func next() async -> ServerGauges? {
      while !Task.isCancelled {
        // Cancelled: the loop ends.
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
