import ErrandFoundation

/// The results of calls to hosts that the policy must block.
struct AddressReport: BenchReport {
  let concurrency: Int
  private(set) var calls = 0
  /// The outcomes of the calls of each kind.
  private(set) var ends: [String: Int] = [:]
  /// The calls with an invalid outcome.
  private(set) var wrong: [String] = []
  var seconds = 0.0
  var summary = AddressPeer.Summary()

  init(concurrency: Int) { self.concurrency = concurrency }

  mutating func count(_ call: AddressCall, _ end: String) {
    calls += 1
    ends["\(call.kind.rawValue) \(end)", default: 0] += 1
    if call.isForbidden ? end != "forbiddenAddress" : !["success", "forbiddenAddress"].contains(end) {
      wrong.append("\(call.urls.map(\.absoluteString).joined(separator: " to ")): \(end)")
    }
  }

  /// The connections to addresses that the policy blocks.
  private var forbidden: [String: Int] { summary.opened.filter { !AddressPeer.open.contains($0.key) } }

  var failures: [String] {
    var failures: [String] = []
    if !forbidden.isEmpty { failures.append("connections to forbidden addresses: \(forbidden)") }
    let seen = summary.opened.values.reduce(0, +)
    if summary.begun != seen {
      failures.append("the kernel opened \(summary.begun) connections, but the peer counted \(seen)")
    }
    if let first = wrong.first {
      failures.append("\(wrong.count) calls had an invalid outcome; the first: \(first)")
    }
    // If no call of a kind succeeded, the policy may never have been tested.
    for kind in ["name", "redirect", "proxy"] where ends["\(kind) success"] == nil {
      failures.append("no \(kind) call reached a public address")
    }
    return failures
  }

  var description: String {
    """
    {"client":"errand","scenario":"addresses","calls":\(calls),"concurrency":\(concurrency),"seconds":\(seconds),\
    "callsPerSecond":\(Double(calls) / seconds),"ends":\(FuzzReport.json(ends)),"lookUps":\(summary.questions),\
    "connectionsOpened":\(FuzzReport.json(summary.opened)),"connectionsBegunByKernel":\(summary.begun),\
    "forbiddenConnections":\(forbidden.values.reduce(0, +))}
    """
  }
}
