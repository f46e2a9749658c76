/// A scenario's result: one line of JSON, and its failures.
protocol BenchReport: CustomStringConvertible, Sendable {
  /// Why the run failed, or empty.
  var failures: [String] { get }
}

extension BenchReport {
  /// Measurements alone never fail a run.
  var failures: [String] { [] }
}
