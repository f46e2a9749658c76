/// The back-off of an upload whose server answers, and takes nothing. Pure.
struct UploadStandstill {
  /// The delay that is none any more: the upload has failed.
  static let limit = Duration.seconds(16)

  private var detours = 0

  /// Notes that bytes were gained.
  mutating func end() { detours = 0 }

  /// The delay before the next request; nil where that was enough of them. The first one follows at once, for the server mostly has what
  /// it did not take from here already; each one after it waits twice as long, from a second on.
  mutating func detour() -> Duration? {
    detours += 1
    guard detours > 1 else { return .zero }
    let delay = Duration.seconds(1 << min(detours - 2, 10))
    return delay < Self.limit ? delay : nil
  }
}
