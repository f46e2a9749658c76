/// Those who fetch the ranges of a download, and which of them each is at. Pure.
struct DownloadCrew {
  /// What ended the ranges, and with them the run.
  struct Failure: Error {
    let error: TaskError
  }

  /// The remote does not send the ranges of the version that is there: the file is to come as one.
  struct Mismatch: Error {}

  /// The answer to a range that the remote did not want to send beside the others, and when it came.
  struct Refusal {
    let error: TaskError
    let moment: Duration
  }

  /// A wait before a range is requested again: until when, and after which error.
  struct Rest {
    let end: Duration
    let error: TaskError
  }

  /// Those who are at work, and how many of them wait before they ask again.
  private(set) var size = 0
  private var resting = 0
  private var lastRest: Rest?
  private var taken: Set<Int> = []
  private var refusals: [Int: Refusal] = [:]

  /// A crew of as many as there are ranges to fetch, and `most` at most.
  ///
  /// - Parameters:
  ///   - ranges: The ranges.
  ///   - most: The most that are fetched at a time.
  ///   - hasFirst: Whether the first of them comes already.
  init(for ranges: DownloadRanges, most: Int, hasFirst: Bool) {
    size = min(max(1, most), ranges.parts.count { !$0.isComplete })
    if hasFirst { taken = [0] }
  }

  /// No range.
  init() {}

  /// The next range that is neither there nor fetched by another one, and how it was refused before; nil where there is none, and one
  /// of the crew goes.
  mutating func take(of ranges: DownloadRanges?) -> (index: Int, refusal: Refusal?)? {
    let next = ranges?.parts.indices.first { ranges?.parts[$0].isComplete == false && !taken.contains($0) }
    guard let next else {
      size -= 1
      return nil
    }
    taken.insert(next)
    return (next, refusals.removeValue(forKey: next))
  }

  /// A range is there.
  mutating func leave(_ index: Int) { taken.remove(index) }

  /// A remote that answers with 429 or 503 may limit connections, as the manager does: the range is left to those who get theirs, and
  /// one of the crew goes.
  ///
  /// - Returns: False where no other is left.
  mutating func yield(_ index: Int, after error: TaskError, at now: Duration) -> Bool {
    guard size > 1, Self.isLimit(error) else { return false }
    size -= 1
    taken.remove(index)
    refusals[index] = Refusal(error: error, moment: now)
    return true
  }

  /// True for the errors of who is allowed fewer exchanges at a time.
  private static func isLimit(_ error: TaskError) -> Bool {
    error.status == .tooManyRequests || error.status == .serviceUnavailable || error.code == .queueFull
      || error.timer == .queue
  }

  /// One begins to wait.
  mutating func rest(_ rest: Rest) {
    resting += 1
    lastRest = rest
  }

  /// The last wait that began, where all who are at work wait.
  var restOfAll: Rest? { size > 0 && resting == size ? lastRest : nil }

  mutating func wake() { resting -= 1 }
}
