import Errand

/// Numbers a call's attempts. Passed along with the call's request.
actor AttemptNumbers {
  /// The key for the numbers in a task's context.
  enum Key: TaskContextKey {
    static var defaultValue: AttemptNumbers? { nil }
  }

  private var last = 0

  /// Returns the number of the next attempt, starting at 1.
  func next() -> Int {
    last += 1
    return last
  }
}
