import ErrandTesting
import Testing

/// Fails a test where an event of any of its calls has no match, or comes out of order; on suites, each of their tests.
///
/// It sees the servers that are made in the Swift task of the test and its children.
struct BalancedEvents: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    let audit = EventAudit()
    try await audit.watching(function)
    _ = await eventually { audit.isAtRest }  // a stream ends shortly after its body
    for problem in audit.problems { Issue.record("\(problem)") }
  }
}

extension Trait where Self == BalancedEvents {
  /// The events of every call are balanced.
  static var balancedEvents: Self { Self() }
}
