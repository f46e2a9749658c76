/// The limits on attempts in flight, and on those that wait for a slot; 0 or less is no limit.
public struct ThrottleLimits: Sendable, Hashable {
  /// For one scheme, host and port.
  public var perHost: Int { didSet { perHost = max(0, perHost) } }
  /// For all of them together.
  public var total: Int { didSet { total = max(0, total) } }
  /// The most that may wait for a slot, and as many streams for theirs (``streamsPerHost``); any more fail at once with code
  /// `.queueFull`.
  public var maximumWaiting: Int { didSet { maximumWaiting = max(0, maximumWaiting) } }
  /// The wait after which a waiter counts as one priority higher, so that none waits for ever; 0 is never.
  public var ageing: Duration
  /// The rate at which they may begin, per host.
  public var rate: RateLimit

  /// The maximum number of streams for one scheme, host and port: bodies that callers read as they come, and request bodies that
  /// the app produces while they are sent. They hold no slot. A call that needs one more waits until one has ended. Defaults to 0,
  /// no limit.
  public var streamsPerHost: Int { didSet { streamsPerHost = max(0, streamsPerHost) } }

  /// Ten a host and no other limit, unless given.
  public init(
    perHost: Int = 10, total: Int = 0, maximumWaiting: Int = 0, ageing: Duration = .seconds(10),
    rate: RateLimit = .none, streamsPerHost: Int = 0
  ) {
    self.perHost = max(0, perHost)
    self.total = max(0, total)
    self.maximumWaiting = max(0, maximumWaiting)
    self.ageing = ageing
    self.rate = rate
    self.streamsPerHost = max(0, streamsPerHost)
  }

  /// The limits on streams, where these are for attempts.
  var ofStreams: ThrottleLimits {
    ThrottleLimits(perHost: streamsPerHost, maximumWaiting: maximumWaiting, ageing: ageing)
  }

  /// No limits.
  public static let unlimited = ThrottleLimits(perHost: 0, total: 0)
}

/// The most attempts that may begin in a period, per host; attempts beyond it wait.
///
///     TaskManager(limits: ThrottleLimits(rate: RateLimit(100, per: .seconds(60))))
public struct RateLimit: Sendable, Hashable {
  /// The most that may begin in ``period``, in the long run; 0 is no limit.
  public var count: Int { didSet { count = max(0, count) } }
  /// The time that ``count`` is for.
  public var period: Duration { didSet { period = max(.zero, period) } }
  /// The most that may begin at once after a pause; 1 at least.
  public var burst: Int { didSet { burst = max(1, burst) } }

  /// A rate of `count` attempts in `period`.
  ///
  /// - Parameters:
  ///   - count: The most that may begin in `period`.
  ///   - period: The time.
  ///   - burst: The most that may begin at once after a pause; `count` unless given.
  public init(_ count: Int, per period: Duration, burst: Int? = nil) {
    self.count = max(0, count)
    self.period = max(.zero, period)
    self.burst = max(1, burst ?? count)
  }

  /// No limit.
  public static let none = RateLimit(0, per: .zero)

  var isNone: Bool { count == 0 || period == .zero }

  /// The time after which one more may begin; a century at most, for sums of more would overflow.
  var interval: Duration { min(period, .seconds(3_200_000_000)) / max(1, count) }

  /// The burst; a billion at most, for sums of more would overflow.
  var mostAtOnce: Int { min(burst, 1_000_000_000) }

  /// The time that a whole burst takes away, but for its first.
  var reserve: Duration { interval * (mostAtOnce - 1) }
}

/// The running and waiting attempts of a manager, at one moment.
///
///     print(shop.manager.throttle.waiting)
public struct ThrottleSnapshot: Sendable, Hashable {
  /// The same for one host.
  public struct Host: Sendable, Hashable {
    /// The attempts that hold a slot.
    public internal(set) var running = 0
    /// The attempts that wait for one, or for a stream.
    public internal(set) var waiting = 0
    /// The open streams: see ``ThrottleSnapshot/streams``.
    public internal(set) var streams = 0
  }

  /// The limits that hold.
  public let limits: ThrottleLimits
  /// The attempts that hold a slot.
  public internal(set) var running: Int
  /// The attempts that wait for one, or for a stream.
  public internal(set) var waiting: Int
  /// The bodies that callers read as they come; each counts from the request on, before there is a head.
  public internal(set) var streams = 0
  /// The hosts with attempts that run or wait, or with open streams.
  public internal(set) var hosts: [Origin: Host]

  /// This snapshot of the slots with one of the streams.
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
