import Dispatch
import Testing

/// Runs CPU-intensive tests on a separate thread. Swift runs all tests on a pool with one thread per core, so
/// a test that computes for seconds could delay other tests past their time limits.
struct OwnThread: SuiteTrait, TestTrait, TestScoping {
  private final class Executor: TaskExecutor {
    private let queue = DispatchQueue(label: "test")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  /// `true` because a suite's trait applies to each test in the suite.
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(Executor()) { try await function() }
  }
}

extension Trait where Self == OwnThread {
  /// Runs CPU-intensive tests on a separate thread.
  static var ownThread: Self { Self() }
}
