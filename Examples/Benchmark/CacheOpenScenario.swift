import Errand
import ErrandFoundation

/// Opens a folder with `--requests` stored responses (default 100,000) and looks up a response. Exits with 1 if this
/// takes more than half a second.
struct CacheOpenScenario: Scenario {
  let isEmbedded = true
  let defaultRequests = 100_000
  let defaultConcurrency = 8

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-bench-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }  // best effort: the folder is temporary
    let filled = try DiskCache(at: folder, sizeLimit: 8 << 30)
    let response = StoredResponse(
      status: .ok, headers: [.cacheControl: "max-age=3600"], requestTime: Date(), responseTime: Date())
    func key(_ number: Int) -> CacheKey { CacheKey(url: "https://bench.test/\(number)") }
    for number in 0..<options.requests {
      let writer = try await filled.store(response, for: key(number))
      try await writer.write(Data("body \(number)".utf8))
      try await writer.commit()
    }
    let start = ContinuousClock.now
    let cache = try DiskCache(at: folder, sizeLimit: 8 << 30)
    guard await cache.entries(for: key(options.requests / 2)).count == 1 else {
      throw BenchError("a response is missing")
    }
    let opening = (ContinuousClock.now - start) / .seconds(1)
    let bytes = await cache.trim()
    let counting = (ContinuousClock.now - start) / .seconds(1) - opening
    return CacheOpenReport(entries: options.requests, bytes: bytes, opening: opening, counting: counting)
  }
}

/// The time taken to open a folder and to count its responses, as one line of JSON.
struct CacheOpenReport: BenchReport {
  let entries: Int
  let bytes: Int
  let opening: Double
  let counting: Double

  var failures: [String] { opening > 0.5 ? ["opening \(entries) responses took \(opening) s"] : [] }

  var description: String {
    """
    {"client":"errand","scenario":"cache-open","entries":\(entries),"bytes":\(bytes),\
    "secondsToOpen":\(opening),"secondsToCount":\(counting)}
    """
  }
}
