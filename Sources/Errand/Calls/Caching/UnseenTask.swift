import ErrandFoundation

/// The task of a call that another call makes for itself: the same, without the hooks that tell of progress.
struct UnseenTask: ServerTask {
  let base: any ServerTask

  var server: Server { base.server }
  var plannedPath: String { get throws(TaskError) { try base.plannedPath } }
  var plannedQuery: HTTPQuery { get throws(TaskError) { try base.plannedQuery } }
  var plannedParameters: (any Encodable & Sendable)? { base.plannedParameters }
  var url: URL { get async throws { try await base.url } }
  var plannedHeaders: HTTPHeaders { get throws(TaskError) { try base.plannedHeaders } }
  var taskTag: String { base.taskTag }

  func preflight(_ request: inout HTTPRequest) async throws { try await base.preflight(&request) }
  func verify(_ response: HTTPResponse) throws { try base.verify(response) }
}

extension TaskPlan {
  /// The plan of a call that this plan's call makes for itself, without a serial queue and without a handle.
  var unseen: TaskPlan {
    var plan = self
    plan.task = UnseenTask(base: task)
    plan.serialQueue = .none
    plan.control = nil
    plan.progress = nil
    return plan
  }
}
