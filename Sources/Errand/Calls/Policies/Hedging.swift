/// Sends a second request if the first one is slow.
///
///     let price = try await GetPrice(id: 7).hedged(after: .milliseconds(200)).send()
///
/// If an attempt has been sent and has not ended after ``delay``, the request is sent again, concurrently. The first
/// acceptable response wins. The other attempts are cancelled and their slots released before the call continues.
/// Hedging speeds up the slowest responses at the cost of some extra load: choose a delay near the 95th percentile.
///
/// A hedge is the same request, as modified by the steps, on another connection. Hooks and steps don't see it. A
/// request is hedged only if its method is safe (GET, HEAD, OPTIONS, TRACE or QUERY), the task is not `.neverRepeat`,
/// its body is in memory, it has no Digest credential, the host's circuit is closed and the host has a free slot. Each
/// hedge uses up one retry from the ``RetryBudget``. After a 429, a 503 or a `Retry-After`, no more hedges are sent.
/// Requests with a streamed body are not hedged, and neither are calls whose response is streamed or written to a file.
///
/// A ``RetryPolicy`` counts hedges as attempts but does not limit them. `.never` with three hedges sends at most four
/// requests. `.attempts(3)` with one hedge sends at most four too, because the retry is the third request.
public struct Hedging: Sendable, Hashable {
  /// How long an attempt can take before another one is started.
  public let delay: Duration
  /// The maximum number of extra attempts.
  public let maximum: Int
  let isInherited: Bool

  private init(_ delay: Duration, _ maximum: Int, isInherited: Bool = false) {
    self.delay = max(.zero, delay)
    self.maximum = max(0, maximum)
    self.isInherited = isInherited
  }

  /// The server's policy.
  public static let inherited = Hedging(.zero, 0, isInherited: true)

  /// No hedging.
  public static let none = Hedging(.zero, 0)

  /// Sends the request again after every `delay`, up to `maximum` times.
  public static func after(_ delay: Duration, maximum: Int = 1) -> Hedging { Hedging(delay, maximum) }

  var isNone: Bool { maximum == 0 }
}
