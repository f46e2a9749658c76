/// A second attempt beside a slow first one.
///
///     let price = try await GetPrice(id: 7).hedged(after: .milliseconds(200)).download()
///
/// If an attempt was sent and has not ended after ``delay``, the request is sent again beside it; the first answer
/// that will do wins, the others are cancelled and their slots released before the call goes on. It cuts the slowest
/// answers short for a little more load: choose a delay that nineteen answers of twenty stay below.
///
/// Only what may be sent twice is hedged (``Idempotency``, and a body that can be read again), only while the host's
/// circuit is closed, and each hedge costs a repetition of the ``RetryBudget``. Once a server has answered 429 or 503, or with
/// `Retry-After`, no more are sent. Bodies that go to a file or are streamed are not hedged.
///
/// A ``RetryPolicy`` counts hedges among the attempts after which it does not retry, and does not limit them:
/// `.never` with three hedges is four requests at most, and so is `.attempts(3)` with one, where the second attempt of the
/// policy is the third request.
public struct Hedging: Sendable, Hashable {
  /// The time that an attempt may take before another is made beside it.
  public let delay: Duration
  /// The most attempts that are made beside the first.
  public let maximum: Int
  let isInherited: Bool

  private init(_ delay: Duration, _ maximum: Int, isInherited: Bool = false) {
    self.delay = max(.zero, delay)
    self.maximum = max(0, maximum)
    self.isInherited = isInherited
  }

  /// As the server says.
  public static let inherited = Hedging(.zero, 0, isInherited: true)

  /// None.
  public static let none = Hedging(.zero, 0)

  /// Another attempt after every `delay`, up to `maximum` of them.
  public static func after(_ delay: Duration, maximum: Int = 1) -> Hedging { Hedging(delay, maximum) }

  var isNone: Bool { maximum == 0 }
}
