import Errand
import ErrandTesting
import ErrandFoundation

/// Makes many calls in sequence. Memory must not grow after the first tenth.
struct SoakScenario: Scenario {
  let defaultRequests = 1_000_000
  let defaultConcurrency = 16
  let isEmbedded = true

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    let remote = try MockServer(keeping: 0)
    remote.route(.get, "/widget", answer: .json(#"{"id":7,"name":"Widget"}"#))
    let url = remote.url.appendingPathComponent("widget")
    let server = Server(
      Remote(remote.url), transport: try options.transport(),
      manager: TaskManager(limits: ThrottleLimits(perHost: options.concurrency)))

    var report = SoakReport(concurrency: options.concurrency)
    let start = ContinuousClock.now
    let portion = max(options.concurrency, options.requests / 20)
    while report.requests < options.requests {
      report.requests += try await BenchResult.measure("soak", options.with(requests: portion)) {
        try await URLTask(url).on(server).downloadData().count
      }.requests
      report.samples.append(ProcessFootprint.residentMegabytes)
    }
    report.seconds = (ContinuousClock.now - start) / .seconds(1)
    remote.stop()
    return report
  }
}

/// The results of a soak test, with the resident megabytes after each twentieth of the calls.
struct SoakReport: BenchReport {
  let concurrency: Int
  var requests = 0
  var seconds = 0.0
  var samples: [Double] = []

  /// The growth in memory since the second sample.
  var megabytesGrown: Double {
    let later = samples.dropFirst()
    guard let first = later.first, let most = later.max() else { return 0 }
    return most - first
  }

  var failures: [String] {
    megabytesGrown > 5 ? ["memory grew by \(megabytesGrown) MB after the first tenth: \(samples)"] : []
  }

  var description: String {
    """
    {"client":"errand","scenario":"soak","requests":\(requests),"concurrency":\(concurrency),"seconds":\(seconds),\
    "requestsPerSecond":\(Double(requests) / seconds),"residentMegabytes":\(samples.last ?? 0),\
    "megabytesGrown":\(megabytesGrown)}
    """
  }
}
