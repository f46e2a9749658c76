import ErrandFoundation

/// The measurements of a run as one line of JSON.
struct BenchResult: BenchReport {
  let scenario: String
  let requests: Int
  let concurrency: Int
  let seconds: Double
  let bytes: Int
  let processorSeconds: Double

  var description: String {
    """
    {"client":"errand","scenario":"\(scenario)","requests":\(requests),"concurrency":\(concurrency),\
    "seconds":\(seconds),"requestsPerSecond":\(Double(requests) / seconds),\
    "megabytesPerSecond":\(Double(bytes) / seconds / 1e6),\
    "cpuMicrosecondsPerRequest":\(processorSeconds * 1e6 / Double(requests)),\
    "peakResidentMegabytes":\(ProcessUsage.now.peakMegabytes)}
    """
  }

  /// Runs `once` as often and as concurrently as the options require, then runs `end`. `once` returns the size of a
  /// body. The measured CPU time includes `end`.
  static func measure(
    _ scenario: String, _ options: BenchOptions, end: () async -> Void = {},
    _ once: @escaping @Sendable () async throws -> Int
  ) async throws -> BenchResult {
    let each = max(1, options.requests / options.concurrency)
    let before = ProcessUsage.now
    let start = ContinuousClock.now
    let bytes = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<options.concurrency {
        group.addTask {
          var sum = 0
          for _ in 0..<each { sum += try await once() }
          return sum
        }
      }
      return try await group.reduce(0, +)
    }
    let elapsed = (ContinuousClock.now - start) / .seconds(1)
    await end()
    return BenchResult(
      scenario: scenario, requests: each * options.concurrency, concurrency: options.concurrency, seconds: elapsed,
      bytes: bytes, processorSeconds: ProcessUsage.now.processorSeconds - before.processorSeconds)
  }
}

/// The process's resource usage.
struct ProcessUsage {
  let processorSeconds: Double
  let peakMegabytes: Double

  static var now: ProcessUsage {
    var usage = rusage()
    #if canImport(Glibc)
      getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    #else
      getrusage(RUSAGE_SELF, &usage)
    #endif
    #if canImport(Darwin)
      let scale = 1e6
    #else
      let scale = 1e3
    #endif
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return ProcessUsage(
      processorSeconds: seconds(usage.ru_utime) + seconds(usage.ru_stime),
      peakMegabytes: Double(usage.ru_maxrss) / scale)
  }
}
