extension Duration {
  /// Returns the longest of the times that are left, `nil` if one of them has no limit, or zero if there are none.
  static func longest(of remaining: [@Sendable () -> Duration?]) -> Duration? {
    var longest = Duration.zero
    for remaining in remaining {
      guard let remaining = remaining() else { return nil }
      longest = max(longest, remaining)
    }
    return longest
  }
}
