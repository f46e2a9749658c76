import ErrandFoundation
public import ErrandTesting
public import Testing

/// Runs a test once per seed until a run fails. Create it with `.chaos(runs:_:)`.
public struct ChaosTrait: SuiteTrait, TestTrait, TestScoping {
  private static let variable = "ERRAND_CHAOS_SEED"

  private let runs: Int
  private let setting: String?
  private let make: @Sendable (UInt64) -> Chaos

  /// - Parameter setting: The value of the environment variable.
  package init(
    runs: Int, setting: String? = ProcessInfo.processInfo.environment[variable],
    _ make: @escaping @Sendable (UInt64) -> Chaos
  ) {
    (self.runs, self.setting, self.make) = (runs, setting, make)
  }

  /// `true`, because the trait of a suite applies to each of its tests.
  public var isRecursive: Bool { true }

  /// Runs the test once per seed. Adds the seed to the comments of a failure.
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    guard testCase != nil else { return try await function() }
    for chaos in seeds.map(make) {
      let hasFailed = Shared(false)
      let naming = IssueHandlingTrait.compactMapIssues { issue in
        hasFailed.withLock { $0 = true }
        var issue = issue
        issue.comments.append("\(chaos)")
        return issue
      }
      try await naming.provideScope(for: test, testCase: testCase) {
        do {
          try await chaos.run(function)
        } catch {
          Issue.record(error)
        }
        // The time limit of a test cancels it, and another run would fail for this reason only.
        if Task.isCancelled { Issue.record("the test was cancelled in this run") }
      }
      if hasFailed.withLock({ $0 }) { return }
    }
  }

  /// The seeds 1, 2, 3 and so on, or the seed in the environment.
  private var seeds: [UInt64] {
    guard let setting else { return (0..<max(runs, 1)).map { UInt64($0) + 1 } }
    guard let seed = UInt64(setting) else {
      Issue.record("\(Self.variable) is '\(setting)', which is not a number of 64 bits")
      return []
    }
    return [seed]
  }
}

extension Trait where Self == ChaosTrait {
  /// Runs a test with the seeds 1 to `runs`, one after another. The test reads `Chaos.current`.
  ///
  ///     @Test(.chaos(runs: 100)) func `shows a widget or an error`() async throws {
  ///       let clock = CallClock(ManualClock(.whenIdle))
  ///       let stub = StubTransport(.json(#"{"id": 7}"#), chaos: .current, clock: clock)
  ///
  /// The first failing run is the last, and its seed is added to the failure. To repeat only this run, set the
  /// environment variable `ERRAND_CHAOS_SEED` to the seed.
  ///
  /// - Parameters:
  ///   - runs: The number of runs. Defaults to 100.
  ///   - make: Returns the chaos of a seed. Defaults to `Chaos(seed:)`.
  public static func chaos(
    runs: Int = 100, _ make: @escaping @Sendable (UInt64) -> Chaos = { Chaos(seed: $0) }
  ) -> Self {
    ChaosTrait(runs: runs, make)
  }
}
