import Errand
import ErrandFoundation

/// Compares the cost of serving a small fresh response from a cache, without decoding, to the same request to `--url`.
/// Exits with 1 if a cache hit costs more than a fifth of a request.
struct CacheScenario: Scenario {
  let defaultRequests = 20_000
  let defaultConcurrency = 8

  /// Makes every response fresh for an hour.
  private struct Freshening: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      var response = try await next(request)
      response.headers[.cacheControl] = "max-age=3600"
      return response
    }
  }

  private static let rounds = 5

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-bench-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }  // best effort: the folder is temporary
    let network = try options.server()
    let memory = try await server(options, MemoryCache())
    let disk = try await server(options, DiskCache(at: folder))
    let servers = [network, memory, disk]
    for server in servers { _ = try await cost(options.with(requests: 100), server) }
    var costs: [[Double]] = [[], [], []]
    // Alternate the servers, so that a change in the machine's load affects every server.
    for _ in 0..<Self.rounds {
      for (index, server) in servers.enumerated() { costs[index].append(try await cost(options, server)) }
    }
    for server in servers[1...] { try await checkHit(options, server) }
    return CacheReport(
      requests: options.requests, concurrency: options.concurrency,
      microseconds: costs.map { $0.sorted()[Self.rounds / 2] })
  }

  private func server(_ options: BenchOptions, _ cache: some CacheStore) async throws -> Server {
    let server = try options.server()
    await server.update {
      $0.cache = cache
      $0.perAttemptSteps = [Freshening()]
    }
    return server
  }

  /// Returns the CPU time per request in microseconds.
  private func cost(_ options: BenchOptions, _ server: Server) async throws -> Double {
    let task = URLTask(options.url).on(server)
    let result = try await BenchResult.measure("cache", options) { try await task.downloadData().count }
    guard result.bytes > 0 else { throw BenchError("\(options.url) has an empty body") }
    return result.processorSeconds * 1e6 / Double(result.requests)
  }

  private func checkHit(_ options: BenchOptions, _ server: Server) async throws {
    let status = try await URLTask(options.url).on(server).response().headers[.cacheStatus] ?? "none"
    guard status.hasPrefix("errand; hit") else { throw BenchError("expected a cache hit, got '\(status)'") }
  }
}

/// The cost of the same small response from the server, from memory and from disk, as one line of JSON.
struct CacheReport: BenchReport {
  let requests: Int
  let concurrency: Int
  /// The times for the server, the memory cache and the disk cache.
  let microseconds: [Double]

  private var ratio: Double { microseconds[1] / microseconds[0] }

  var failures: [String] { ratio > 0.2 ? ["a hit in memory costs \(ratio) times a request (limit: 0.2)"] : [] }

  var description: String {
    """
    {"client":"errand","scenario":"cache","requests":\(requests),"concurrency":\(concurrency),\
    "cpuMicrosecondsPerRequest":\(microseconds[0]),"cpuMicrosecondsPerHit":\(microseconds[1]),\
    "cpuMicrosecondsPerHitOnDisk":\(microseconds[2]),"ratio":\(ratio),"ratioOnDisk":\(microseconds[2] / microseconds[0])}
    """
  }
}
