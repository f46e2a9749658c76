/// A scenario's result: one line of JSON, and its failures.
protocol BenchReport: CustomStringConvertible, Sendable {
  /// The reasons why the run failed. Empty if it succeeded.
  var failures: [String] { get }
}

extension BenchReport {
  /// Measurements alone never fail a run.
  var failures: [String] { [] }
}
