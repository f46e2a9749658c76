/// The backoff of an upload whose server responds but stores nothing. Pure.
struct UploadStandstill {
  /// The delay at which the upload fails.
  static let limit = Duration.seconds(16)

  private var detours = 0

  mutating func end() { detours = 0 }

  /// The delay before the next request. `nil` if the limit is reached. The first request follows at once, because the
  /// server usually already has the bytes. Then the delay starts at one second and doubles.
  mutating func detour() -> Duration? {
    detours += 1
    guard detours > 1 else { return .zero }
    let delay = Duration.seconds(1 << min(detours - 2, 10))
    return delay < Self.limit ? delay : nil
  }
}
