/// The size above which a table removes stale entries. A sweep sets it to twice the number of remaining entries, so the
/// amortized cost per entry is constant.
struct CleanupThreshold {
  private static let least = 64
  private var count = Self.least

  func isExceeded(by count: Int) -> Bool { count > self.count }

  mutating func swept(leaving count: Int) { self.count = max(Self.least, 2 * count) }
}
