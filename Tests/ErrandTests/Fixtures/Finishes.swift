import Errand
import ErrandTesting

/// Returns whether `body` ends within the limit, and cancels it afterwards.
func finishes(
  within limit: Duration = .seconds(20), _ body: @escaping @Sendable () async throws -> Void
) async -> Bool {
  let isOver = Shared(false)
  let work = Task {
    _ = try? await body()
    isOver.withLock { $0 = true }
  }
  let result = await eventually(within: limit) { isOver.withLock { $0 } }
  work.cancel()
  return result
}
