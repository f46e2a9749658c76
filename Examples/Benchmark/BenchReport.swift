/// A scenario's result as one line of JSON, with the failures.
protocol BenchReport: CustomStringConvertible, Sendable {
  /// The reasons why the run failed. Empty if it succeeded.
  var failures: [String] { get }
}

extension BenchReport {
  /// Empty by default, because a scenario that only measures can't fail.
  var failures: [String] { [] }
}
