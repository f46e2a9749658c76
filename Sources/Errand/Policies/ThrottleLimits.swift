/// How many attempts may be under way at once, and how those wait that may not; 0 is no limit, and so
/// is anything below.
public struct ThrottleLimits: Sendable, Hashable {
  /// For one scheme, host and port.
  public var perHost: Int { didSet { perHost = max(0, perHost) } }
  /// For all of them together.
  public var total: Int { didSet { total = max(0, total) } }
  /// How many may wait; whoever comes then fails at once with code `.queueFull`.
  public var maximumWaiting: Int { didSet { maximumWaiting = max(0, maximumWaiting) } }
  /// How long a waiter waits until it counts as one priority higher, so that none waits for ever; 0 is never.
  public var ageing: Duration
  /// How many may begin in a time, for each host.
  public var rate: RateLimit

  /// How many bodies that callers read as they come may be open, for one scheme, host and port. They hold no slot; a call
  /// that asks for one more waits until one has ended.
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

  /// What holds for streams, where these hold for attempts.
  var ofStreams: ThrottleLimits {
    ThrottleLimits(perHost: streamsPerHost, maximumWaiting: maximumWaiting, ageing: ageing)
  }

  /// No limits.
  public static let unlimited = ThrottleLimits(perHost: 0, total: 0)
}
