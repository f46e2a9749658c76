/// Runs tasks on behalf of whoever reads their results; stops with the last reference.
final class TaskResultsDriver: Sendable {
  private let work: Task<Void, Never>

  init(_ work: Task<Void, Never>) { self.work = work }

  deinit { work.cancel() }
}
