/// How many connections there are to an origin.
public struct ConnectionCounts: Sendable, Hashable {
  /// All of them.
  public var open = 0
  /// Those that carry an exchange.
  public var busy = 0

  /// Those that wait to be used again.
  public var idle: Int { max(0, open - busy) }
}
