/// What a scenario found: one line of JSON, and what of it must not be.
protocol BenchReport: CustomStringConvertible, Sendable {
  /// Why the run is no good; empty when it is.
  var failures: [String] { get }
}

extension BenchReport {
  /// Numbers are neither good nor bad.
  var failures: [String] { [] }
}
