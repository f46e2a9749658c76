/// The backoff for an upload whose server responds but does not store anything. Pure.
struct UploadBackoff {
  /// The delay at which the upload fails.
  static let limit = Duration.seconds(16)

  private var detours = 0

  mutating func end() { detours = 0 }

  /// Returns the delay before the next request, or `nil` when the limit is reached. The first delay is zero, because
  /// the server usually already has the bytes. The second is one second, and it doubles from then on.
  mutating func detour() -> Duration? {
    detours += 1
    guard detours > 1 else { return .zero }
    let delay = Duration.seconds(1 << min(detours - 2, 10))
    return delay < Self.limit ? delay : nil
  }
}
