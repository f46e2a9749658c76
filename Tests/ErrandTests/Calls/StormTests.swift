import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Random operations that combine all features end with expected errors and release all resources.
///
/// `ERRAND_STORM_SEED` sets the seed. `ERRAND_STORM_COUNT` sets the number of operations, which defaults to 100,000 in
/// CI (`CI=true`) and to 10,000 elsewhere.
@Suite(.timeLimit(.minutes(5)), .serialized) struct StormTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let seed = environment["ERRAND_STORM_SEED"].flatMap { UInt64($0) } ?? 2026
  private static let count =
    environment["ERRAND_STORM_COUNT"].flatMap { Int($0) }
    ?? (environment["CI"] == "true" ? 100_000 : 10_000)

  private static let limits = [
    ThrottleLimits(perHost: 1), ThrottleLimits(perHost: 2, maximumWaiting: 24, streamsPerHost: 2), ThrottleLimits(),
  ]

  @Test(arguments: limits.indices)
  func `all random operations end and release their resources`(index: Int) async throws {
    let first = Self.count * index / Self.limits.count
    let numbers = first..<Self.count * (index + 1) / Self.limits.count
    try await withFolder { folder in
      let storm = Storm(Self.limits[index], sharesRequests: index > 0, seed: Self.seed, folder: folder)
      let problems = await storm.run(numbers)
      #expect(problems.isEmpty, "ERRAND_STORM_SEED=\(Self.seed), \(Self.limits[index]): \(storm.ledger.counts)")
      let rare = storm.missing.filter { _ in numbers.count >= 10_000 }
      #expect(rare.isEmpty, "features tested too rarely with ERRAND_STORM_SEED=\(Self.seed): \(storm.ledger.counts)")
    }
  }
}
