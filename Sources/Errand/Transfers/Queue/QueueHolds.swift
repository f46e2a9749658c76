/// The keys of an ``OfflineQueue`` that are held up, each for twice as long as before. Pure.
struct QueueHolds {
  private struct Hold {
    var delay: Duration
    /// The time from which its tasks are sent again.
    var end: Duration
  }

  private static let first = Duration.seconds(1)
  private static let longest = Duration.seconds(300)

  private var holds: [String: Hold] = [:]

  /// Holds a key up, for a second the first time, and for no less than a server asks for; for five minutes at most.
  mutating func hold(_ key: String, at now: Duration, retryAfter: Duration?) {
    let delay = min(holds[key].map { $0.delay * 2 } ?? Self.first, Self.longest)
    holds[key] = Hold(delay: delay, end: now + min(max(delay, retryAfter ?? .zero), Self.longest))
  }

  /// A task of the key was delivered, or left the queue.
  mutating func release(_ key: String) { holds[key] = nil }

  /// True where the tasks of a key wait.
  func holds(_ key: String, at now: Duration) -> Bool { holds[key].map { now < $0.end } ?? false }

  /// The time until the first of these keys is sent again, zero for one that is not held up; nil where there is none.
  func wait(for keys: some Sequence<String>, at now: Duration) -> Duration? {
    keys.map { key in max(.zero, (holds[key]?.end ?? now) - now) }.min()
  }
}
