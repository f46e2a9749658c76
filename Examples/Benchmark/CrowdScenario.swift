import Errand
import ErrandFoundation

/// Measures how much an inactive crowd slows down busy requests: without a crowd, with 2,000 idle connections, and with
/// 2,000 streams whose body stalls after the head. Neither crowd may increase the CPU time per request by more than a
/// tenth.
///
/// The servers run in their own processes, so only the client's CPU time counts. The three kinds of crowd alternate.
/// Each kind uses its own transport, which is released before the next kind starts. Each ratio is the median over all
/// rounds, because machines are noisy.
struct CrowdScenario: Scenario {
  let defaultRequests = 15_000
  let defaultConcurrency = 64
  let isEmbedded = true

  private static let crowd = 2000
  private static let rounds = 15

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    try ProcessFootprint.raiseDescriptorLimit(toAtLeast: 3 * UInt64(Self.crowd))
    let remote = try RemoteProcess()
    defer { remote.stop() }
    let busy = options.hasURL ? options.url : remote.url.appendingPathComponent("now")
    var report = CrowdReport(
      requests: options.requests, concurrency: options.concurrency, crowd: Self.crowd,
      kinds: CrowdKind.allCases)
    for _ in 0..<Self.rounds {
      for kind in CrowdKind.allCases {
        let cost = try await cost(of: kind, options, busy: busy, remote: remote.url)
        report.costs[kind, default: []].append(cost)
      }
    }
    return report
  }

  /// Returns the CPU time of a busy request in microseconds.
  private func cost(of kind: CrowdKind, _ options: BenchOptions, busy: URL, remote: URL) async throws -> Double {
    let transport = try options.transport()
    let bodies = try await kind.gather(Self.crowd, at: remote, over: transport)
    let readers = bodies.map { body in Task { while try await body.next() != nil {} } }
    defer { for reader in readers { reader.cancel() } }
    let once: @Sendable () async throws -> Int = {
      let response = try await transport.send(HTTPRequest(.get, busy))
      guard response.status == .ok else { throw BenchError("the server responded with \(response.status)") }
      return try await response.body.collect().count
    }
    _ = try await BenchResult.measure("crowd", options.with(requests: options.requests / 10), once)
    let result = try await BenchResult.measure("crowd", options, once)
    return result.processorSeconds * 1e6 / Double(result.requests)
  }
}

/// The crowd next to the busy requests.
enum CrowdKind: String, CaseIterable {
  case nobody
  case idleConnections
  case stalledStreams

  /// Creates the crowd. Returns the bodies of open streams.
  func gather(_ count: Int, at remote: URL, over transport: any Transport) async throws -> [HTTPResponseBody] {
    guard self != .nobody else { return [] }
    var options = TransferOptions()
    options.isLongLived = self == .stalledStreams
    // Idle connections receive their response only when the entire crowd is connected, so none of them is reused.
    let path = self == .stalledStreams ? "stalled" : "later"
    let request = HTTPRequest(.get, remote.appendingPathComponent(path), options: options)
    let bodies = try await withThrowingTaskGroup(of: HTTPResponseBody.self) { group in
      for _ in 0..<count {
        group.addTask {
          let body = try await transport.send(request).body
          if !request.options.isLongLived { _ = try await body.collect() }
          return body
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    try await check(count, transport)
    return self == .stalledStreams ? bodies : []
  }

  private func check(_ count: Int, _ transport: any Transport) async throws {
    #if os(Linux)
      guard let transport = transport as? CurlTransport else { return }
      let counts = await transport.connections().values.first
      let (open, active) = (counts?.open ?? 0, counts?.busy ?? 0)
      guard open >= count, self == .idleConnections ? active == 0 : active >= count else {
        throw BenchError("\(open) connections are open and \(active) active, but expected \(count) \(rawValue)")
      }
    #endif
  }
}
