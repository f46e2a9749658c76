import Errand

/// The numbers of the attempts of one call, which travel with its request.
actor AttemptNumbers {
  /// The place of the numbers among the values that travel with a task.
  enum Key: TaskContextKey {
    static var defaultValue: AttemptNumbers? { nil }
  }

  private var last = 0

  /// The number of the attempt that begins; the first is 1.
  func next() -> Int {
    last += 1
    return last
  }
}
