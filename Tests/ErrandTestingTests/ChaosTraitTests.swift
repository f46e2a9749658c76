import ErrandTesting
import ErrandTestingTraits
import Testing

@Suite(.timeLimit(.minutes(1))) struct ChaosTraitTests {
  private struct Oops: Error {}

  /// Runs `body` with the trait. Returns the seeds used, and the comments of the issues recorded.
  private func run(
    _ runs: Int, setting: String? = nil, _ body: @escaping @Sendable (Chaos) throws -> Void
  ) async throws -> (seeds: [UInt64], comments: [String]) {
    let (seeds, comments) = (Shared<[UInt64]>([]), Shared<[String]>([]))
    let (test, testCase) = (try #require(Test.current), try #require(Test.Case.current))
    let catching = IssueHandlingTrait.compactMapIssues { issue in
      comments.withLock { $0.append(issue.comments.map(\.rawValue).joined(separator: " ")) }
      return nil
    }
    try await catching.provideScope(for: test, testCase: testCase) {
      let trait = ChaosTrait(runs: runs, setting: setting) { Chaos(seed: $0) }
      try await trait.provideScope(for: test, testCase: testCase) {
        seeds.withLock { $0.append(Chaos.current.seed) }
        try body(.current)
      }
    }
    return (seeds.withLock { $0 }, comments.withLock { $0 })
  }

  @Test func `runs the test once per seed`() async throws {
    let result = try await run(5) { _ in }
    #expect(result.seeds == [1, 2, 3, 4, 5] && result.comments.isEmpty)
  }

  @Test func `the first failure ends the test and names its seed`() async throws {
    let result = try await run(5) { #expect($0.seed != 3, "odd") }
    #expect(result.seeds == [1, 2, 3] && result.comments == ["odd ERRAND_CHAOS_SEED=3"])
  }

  @Test func `a thrown error names its seed`() async throws {
    let result = try await run(5) { if $0.seed == 2 { throw Oops() } }
    #expect(result.seeds == [1, 2] && result.comments == ["ERRAND_CHAOS_SEED=2"])
  }

  @Test func `a cancelled run names its seed and ends the test`() async throws {
    let task = Task {
      try await run(5) { if $0.seed == 2 { withUnsafeCurrentTask { $0?.cancel() } } }
    }
    let result = try await task.value
    #expect(result.seeds == [1, 2])
    #expect(result.comments == ["the test was cancelled in this run ERRAND_CHAOS_SEED=2"])
  }

  @Test func `the environment can select a single seed`() async throws {
    let result = try await run(5, setting: "17") { _ in }
    #expect(result.seeds == [17] && result.comments.isEmpty)
  }

  @Test func `an invalid seed fails the test`() async throws {
    let result = try await run(5, setting: "x") { _ in }
    #expect(result.seeds == [])
    #expect(result.comments == ["ERRAND_CHAOS_SEED is 'x', which is not a number of 64 bits"])
  }

  @Test(.chaos(runs: 2) { Chaos(seed: $0, rate: 0.5) }) func `the current chaos of a test comes from its trait`() {
    #expect(Chaos.current.rate == 0.5 && Chaos.current.seed > 0)
  }

  @Test func `the current chaos of a test without the trait has the seed 0`() {
    #expect(Chaos.current == Chaos(seed: 0))
  }
}
