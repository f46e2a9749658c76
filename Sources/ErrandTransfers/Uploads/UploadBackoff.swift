/// The backoff for an upload whose server responds but does not store anything.
struct UploadBackoff {
  /// The upload fails when the delay reaches this limit.
  static let limit = Duration.seconds(16)

  private var detours = 0

  mutating func end() { detours = 0 }

  /// Returns the delay before the next request, or `nil` when the limit is reached. The first delay is zero, because
  /// the server usually already has the bytes. The second delay is one second, and each later delay is twice as long.
  mutating func detour() -> Duration? {
    detours += 1
    guard detours > 1 else { return .zero }
    let delay = Duration.seconds(1 << min(detours - 2, 10))
    return delay < Self.limit ? delay : nil
  }
}
