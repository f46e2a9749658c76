/// Limits on running and waiting attempts. 0 means no limit.
public struct ThrottleLimits: Sendable, Hashable {
  /// The maximum number of running attempts per scheme, host and port.
  public var perHost: Int { didSet { perHost = max(0, perHost) } }
  /// The maximum number of running attempts in total.
  public var total: Int { didSet { total = max(0, total) } }
  /// The maximum number of attempts waiting for a slot. Attempts waiting for a stream (``streamsPerHost``) are counted
  /// separately, with the same maximum. Further attempts fail immediately with code `.queueFull`.
  public var maximumWaiting: Int { didSet { maximumWaiting = max(0, maximumWaiting) } }
  /// The waiting time after which an attempt's priority rises by one, to prevent starvation. 0 turns this off.
  public var priorityAging: Duration
  /// The maximum rate at which attempts start, per host.
  public var rate: RateLimit

  /// The maximum number of streams per scheme, host and port. Defaults to 0, which means no limit.
  ///
  /// A stream is a response body that the caller reads as it arrives, or a request body that the app produces as it is
  /// sent. Streams wait for a slot like other attempts, but don't hold it while they run. If the limit is reached, a call
  /// waits until another stream has ended.
  public var streamsPerHost: Int { didSet { streamsPerHost = max(0, streamsPerHost) } }

  /// Creates limits. By default, ten attempts per host can run, and there are no other limits.
  public init(
    perHost: Int = 10, total: Int = 0, maximumWaiting: Int = 0, priorityAging: Duration = .seconds(10),
    rate: RateLimit = .none, streamsPerHost: Int = 0
  ) {
    self.perHost = max(0, perHost)
    self.total = max(0, total)
    self.maximumWaiting = max(0, maximumWaiting)
    self.priorityAging = priorityAging
    self.rate = rate
    self.streamsPerHost = max(0, streamsPerHost)
  }

  /// The limits for the queue of streams.
  var ofStreams: ThrottleLimits {
    ThrottleLimits(perHost: streamsPerHost, maximumWaiting: maximumWaiting, priorityAging: priorityAging)
  }

  /// No limits.
  public static let unlimited = ThrottleLimits(perHost: 0, total: 0)
}

/// The maximum number of attempts that start per host in a period. Further attempts wait.
///
///     TaskManager(limits: ThrottleLimits(rate: RateLimit(100, per: .seconds(60))))
public struct RateLimit: Sendable, Hashable {
  /// The maximum number of attempts per ``period``, averaged over time. 0 means no limit.
  public var count: Int { didSet { count = max(0, count) } }
  /// The period that ``count`` applies to.
  public var period: Duration { didSet { period = max(.zero, period) } }
  /// The maximum number of attempts that start immediately after a pause. At least 1.
  public var burst: Int { didSet { burst = max(1, burst) } }

  /// Creates a rate of `count` attempts per `period`. `burst` defaults to `count`.
  public init(_ count: Int, per period: Duration, burst: Int? = nil) {
    self.count = max(0, count)
    self.period = max(.zero, period)
    self.burst = max(1, burst ?? count)
  }

  /// No limit.
  public static let none = RateLimit(0, per: .zero)

  var isNone: Bool { count == 0 || period == .zero }

  /// The time between two attempts. Capped at a century to avoid overflow.
  var interval: Duration { min(period, .seconds(3_200_000_000)) / max(1, count) }

  /// The burst size, capped at a billion to avoid overflow.
  var mostAtOnce: Int { min(burst, 1_000_000_000) }

  /// The time that a full burst uses up, excluding its first attempt.
  var reserve: Duration { interval * (mostAtOnce - 1) }
}

/// A snapshot of a manager's running and waiting attempts.
///
///     print(shop.manager.throttle.waiting)
public struct ThrottleSnapshot: Sendable, Hashable {
  /// The running and waiting attempts for one host.
  public struct Host: Sendable, Hashable {
    /// The number of attempts that hold a slot.
    public internal(set) var running = 0
    /// The number of attempts waiting for a slot or a stream.
    public internal(set) var waiting = 0
    /// The number of open streams (see ``ThrottleSnapshot/streams``).
    public internal(set) var streams = 0
  }

  /// The current limits.
  public let limits: ThrottleLimits
  /// The number of attempts that hold a slot.
  public internal(set) var running: Int
  /// The number of attempts waiting for a slot or a stream.
  public internal(set) var waiting: Int
  /// The number of open streams. A stream counts from the moment its request starts.
  public internal(set) var streams = 0
  /// The hosts with running or waiting attempts, or with open streams.
  public internal(set) var hosts: [Origin: Host]

  /// Combines this snapshot of slots with a snapshot of streams.
  func adding(streams: ThrottleSnapshot) -> ThrottleSnapshot {
    var sum = self
    sum.streams = streams.running
    sum.waiting += streams.waiting
    for (host, counts) in streams.hosts {
      sum.hosts[host, default: Host()].streams = counts.running
      sum.hosts[host, default: Host()].waiting += counts.waiting
    }
    return sum
  }
}
