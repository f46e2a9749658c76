/// What one attempt of a call came to.
public struct AttemptRecord: Sendable {
  /// Which attempt it was; the first is 1.
  public let number: Int
  /// How long it took, from the moment it had its slot.
  public var duration: Duration = .zero
  /// How long it waited for its slot.
  public var queued: Duration = .zero
  /// The status, if a response came.
  public var status: HTTPStatus?
  /// Why it failed, in one line with secrets hidden; nil when it did not.
  public var failure: String?
  /// What the transfer took, where it was measured.
  public var timings: TransferTimings?
  /// How long the call waited before the next attempt; nil when there was none.
  public var delay: Duration?

  package init(number: Int) { self.number = number }

  /// Whether a pooled connection turned out dead and the request went out once more on a fresh one.
  public var wasResent: Bool { timings?.wasResent ?? false }

  /// The status or the failure, in words.
  public var outcome: String { failure ?? status?.description ?? "no response" }
}
