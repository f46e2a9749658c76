import Errand

/// Assigns a download's ranges to concurrent workers.
struct RangeWorkers {
  struct Failure: Error {
    let error: TaskError
  }

  /// Thrown if the server does not send ranges of the known version. The file is then downloaded as a single stream.
  struct Mismatch: Error {}

  struct Refusal {
    let error: TaskError
    let moment: Duration
  }

  struct Rest {
    let end: Duration
    let error: TaskError
  }

  /// The number of workers. `resting` is the number of workers waiting for a retry.
  private(set) var size = 0
  private var resting = 0
  private var lastRest: Rest?
  private var taken: Set<Int> = []
  private var refusals: [Int: Refusal] = [:]

  /// Creates one worker per missing range, up to `most`. `hasFirst` is `true` if the first range is already being
  /// received.
  init(for ranges: DownloadRanges, most: Int, hasFirst: Bool) {
    size = min(max(1, most), ranges.parts.count { !$0.isComplete })
    if hasFirst { taken = [0] }
  }

  init() {}

  /// Claims the next missing range that no other worker is fetching. Returns its index and its earlier refusal, if any.
  /// Returns `nil` if no range is left. In that case, the worker must exit.
  mutating func take(of ranges: DownloadRanges?) -> (index: Int, refusal: Refusal?)? {
    let next = ranges?.parts.indices.first { ranges?.parts[$0].isComplete == false && !taken.contains($0) }
    guard let next else {
      size -= 1
      return nil
    }
    taken.insert(next)
    return (next, refusals.removeValue(forKey: next))
  }

  mutating func leave(_ index: Int) { taken.remove(index) }

  /// Leaves a range to the other workers if concurrent requests seem to be limited: after a 429 or 503, or if the
  /// manager's queue is full. The worker must then exit.
  ///
  /// - Returns: Whether the range was left to the others. `false` if the error does not indicate a limit, or if no
  ///   other worker is left.
  mutating func yield(_ index: Int, after error: TaskError, at now: Duration) -> Bool {
    guard size > 1, Self.isLimit(error) else { return false }
    size -= 1
    taken.remove(index)
    refusals[index] = Refusal(error: error, moment: now)
    return true
  }

  private static func isLimit(_ error: TaskError) -> Bool {
    error.status == .tooManyRequests || error.status == .serviceUnavailable || error.code == .queueFull
      || error.timer == .queue
  }

  mutating func rest(_ rest: Rest) {
    resting += 1
    lastRest = rest
  }

  /// The most recent delay, if all workers are waiting.
  var restOfAll: Rest? { size > 0 && resting == size ? lastRest : nil }

  mutating func wake() { resting -= 1 }
}
