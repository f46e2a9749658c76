import Errand
import ErrandTesting
import ErrandFoundation

/// Cancels calls at random over real sockets through the entire stack. No call may hang, leak its slot, memory or
/// connection, or end with anything except success or `CancellationError`.
///
/// The server runs in this process. The cancellation times follow a fixed seed, but the interleaving varies.
struct StormScenario: Scenario {
  let defaultRequests = 100_000
  let defaultConcurrency = 64
  let isEmbedded = true

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    // The first storm is as long as the second. It fills pools and caches and fragments the heap. After that, the
    // footprint must not grow.
    let first = try await Storm(options).blow()
    let before = await ProcessFootprint.settled(atMost: 0)
    let start = ContinuousClock.now
    var report = try await Storm(options).blow()
    report.add(first)  // include its errors
    report.seconds = (ContinuousClock.now - start) / .seconds(1)
    let after = await ProcessFootprint.settled(atMost: before.descriptors)
    report.descriptorsLost = after.descriptors - before.descriptors
    report.megabytesGrown = after.residentMegabytes - before.residentMegabytes
    return report
  }
}

/// The results of a storm.
struct StormReport: BenchReport {
  let requests: Int
  let concurrency: Int
  var seconds = 0.0
  var succeeded = 0
  var cancelled = 0
  var hung = 0
  var wrong: [String] = []
  var slotsLost = 0
  var descriptorsLost = 0
  var megabytesGrown = 0.0

  /// Adds the errors of another storm.
  mutating func add(_ other: StormReport) {
    hung += other.hung
    wrong += other.wrong
    slotsLost += other.slotsLost
  }

  /// The allowed growth in megabytes. It covers the allocator's slack, but not a leak that grows with the requests.
  static let tolerance = 5.0

  var failures: [String] {
    var failures: [String] = []
    if hung > 0 { failures.append("\(hung) calls hung") }
    if slotsLost > 0 { failures.append("\(slotsLost) slots or calls were not released") }
    if let first = wrong.first { failures.append("\(wrong.count) unexpected errors; the first: \(first)") }
    if descriptorsLost > 0 { failures.append("\(descriptorsLost) descriptors are still open") }
    if megabytesGrown > Self.tolerance { failures.append("memory grew by \(megabytesGrown) MB") }
    return failures
  }

  var description: String {
    """
    {"client":"errand","scenario":"storm","requests":\(requests),"concurrency":\(concurrency),"seconds":\(seconds),\
    "succeeded":\(succeeded),"cancelled":\(cancelled),"hung":\(hung),"wrongErrors":\(wrong.count),\
    "slotsLost":\(slotsLost),"descriptorsLost":\(descriptorsLost),"megabytesGrown":\(megabytesGrown)}
    """
  }
}
