/// Where many tasks come from, one by one: a sequence of either kind.
struct TaskSource<Described: Sendable, Failure: Error> {
  /// The next task; nil at the end.
  // Not on the caller's actor: iterators that may be read where they are is a thing of newer systems.
  let next: @concurrent () async throws(Failure) -> Described?

  init<Tasks: Sequence>(_ tasks: Tasks) where Tasks.Element == Described, Failure == Never {
    var iterator = tasks.makeIterator()
    next = { () async throws(Never) -> Described? in iterator.next() }
  }

  init<Tasks: AsyncSequence>(_ tasks: Tasks) where Tasks.Element == Described, Failure == any Error {
    var iterator = tasks.makeAsyncIterator()
    next = { try await iterator.next() }
  }
}
