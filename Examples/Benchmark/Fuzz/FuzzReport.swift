/// The results of a fuzzing run.
struct FuzzReport: BenchReport {
  let seed: Int
  var exchanges = 0
  var seconds = 0.0
  var collateral = 0
  /// The number of findings that libcurl hides, as described in the guide on transports.
  var known = 0
  var findings: [String] = []
  /// The number of exchanges by outcome.
  var ends: [String: Int] = [:]
  var mutations: [String: Int] = [:]
  /// The maximum time by which an exchange exceeded its limits.
  var latest = Duration.zero
  var descriptorsLost = 0
  var slotsLost = 0

  mutating func add(_ outcome: FuzzOutcome, _ verdict: FuzzJudge.Verdict) -> String? {
    exchanges += 1
    ends[outcome.name, default: 0] += 1
    mutations[verdict.mutation, default: 0] += 1
    latest = max(latest, outcome.elapsed - outcome.exchange.limit)
    if verdict.verdict == "collateral" { collateral += 1 }
    if verdict.verdict == "known" { known += 1 }
    guard let text = outcome.finding ?? (verdict.verdict == "finding" ? verdict.text : nil) else { return nil }
    let block = outcome.exchange.number / FuzzBlock.size * FuzzBlock.size
    let finding = """
      seed \(seed), exchange \(outcome.exchange.description), mutation '\(verdict.mutation)': \(text) \
      [fuzz --seed \(seed) --first \(block) --exchanges \(FuzzBlock.size) --concurrency 1]
      """
    findings.append(finding)
    return finding
  }

  var failures: [String] {
    var failures = findings
    if slotsLost > 0 { failures.append("\(slotsLost) slots or calls were not released") }
    if descriptorsLost > 0 { failures.append("\(descriptorsLost) descriptors are still open") }
    return failures
  }

  var description: String {
    """
    {"client":"errand","scenario":"fuzz","seed":\(seed),"exchanges":\(exchanges),"seconds":\(seconds),\
    "findings":\(findings.count),"collateral":\(collateral),"known":\(known),"secondsLate":\(max(0, latest / .seconds(1))),\
    "slotsLost":\(slotsLost),"descriptorsLost":\(descriptorsLost),"ends":\(Self.json(ends)),\
    "mutations":\(Self.json(mutations))}
    """
  }

  static func json(_ counts: [String: Int]) -> String {
    "{" + counts.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
  }
}
