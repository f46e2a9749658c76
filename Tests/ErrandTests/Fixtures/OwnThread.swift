import Dispatch
import Testing

/// Runs tests that compute for seconds on a separate thread. Swift has only one thread per core for all tests, so a busy
/// thread delays the others past their time limits.
struct OwnThread: SuiteTrait, TestTrait, TestScoping {
  private final class Executor: TaskExecutor {
    private let queue = DispatchQueue(label: "test")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  /// `true`, because the trait of a suite applies to each of its tests.
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(Executor()) { try await function() }
  }
}

extension Trait where Self == OwnThread {
  /// Runs tests that compute for seconds on a separate thread.
  static var ownThread: Self { Self() }
}
