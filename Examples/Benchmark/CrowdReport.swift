/// The results of a crowd run.
struct CrowdReport: BenchReport {
  let requests: Int
  let concurrency: Int
  let crowd: Int
  let kinds: [CrowdKind]
  /// The CPU time per request in each round, in microseconds.
  var costs: [CrowdKind: [Double]] = [:]

  /// The maximum cost of a request relative to a request without the crowd.
  static let limit = 1.10

  private func cost(_ kind: CrowdKind) -> Double { Self.median(costs[kind] ?? []) }

  /// Returns the median cost relative to a request without the crowd in the same round.
  private func ratio(_ kind: CrowdKind) -> Double {
    Self.median(zip(costs[kind] ?? [], costs[.nobody] ?? []).map { $0 / $1 })
  }

  private static func median(_ values: [Double]) -> Double {
    values.isEmpty ? 0 : values.sorted()[values.count / 2]
  }

  var failures: [String] {
    kinds.filter { ratio($0) > Self.limit }.map {
      "with \(crowd) \($0.rawValue), a request costs \(ratio($0)) times as much"
    }
  }

  var description: String {
    """
    {"client":"errand","scenario":"crowd","requests":\(requests),"concurrency":\(concurrency),"crowd":\(crowd),\
    "rounds":\(costs[.nobody]?.count ?? 0),"cpuMicrosecondsPerRequest":\(cost(.nobody)),\
    "cpuMicrosecondsBesideIdleConnections":\(cost(.idleConnections)),\
    "cpuMicrosecondsBesideStalledStreams":\(cost(.stalledStreams)),\
    "idleConnectionsRatio":\(ratio(.idleConnections)),"stalledStreamsRatio":\(ratio(.stalledStreams))}
    """
  }
}
