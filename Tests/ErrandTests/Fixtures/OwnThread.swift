import Dispatch
import Testing

/// Runs tests that compute for seconds on a separate thread, because Swift has only as many threads as the machine has
/// cores, and the time limits of all other tests would pass meanwhile.
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
