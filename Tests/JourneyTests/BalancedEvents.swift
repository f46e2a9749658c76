import ErrandTesting
import Testing

/// Fails a test if the events of a call are unbalanced or out of order. Applies to every test in a suite.
///
/// Covers servers created in the test's Swift task and its child tasks.
struct BalancedEvents: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    let audit = EventAudit()
    try await audit.watching(function)
    _ = await eventually { audit.isAtRest }  // a stream's last event follows shortly after its body ends
    for problem in audit.problems { Issue.record("\(problem)") }
  }
}

extension Trait where Self == BalancedEvents {
  /// Checks that the events of every call are balanced.
  static var balancedEvents: Self { Self() }
}
