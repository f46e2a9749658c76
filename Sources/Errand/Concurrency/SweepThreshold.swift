/// The number of entries above which a table looks for stale ones. It doubles with what is left, so that an entry costs the
/// same in a table of any size.
struct SweepThreshold {
  private static let least = 64
  private var count = Self.least

  /// True when a table of `count` entries is due.
  func isExceeded(by count: Int) -> Bool { count > self.count }

  /// Notes that stale entries were removed.
  mutating func swept(leaving count: Int) { self.count = max(Self.least, 2 * count) }
}
