public import ErrandFoundation

/// A task with changes of its plan; what every modifier returns.
///
/// It has the verbs of its base, and modifying it again is still a `Modified` of the same base.
public struct Modified<Base: ServerTask>: ServerTask {
  /// The task that modifiers of a modified task wrap: the same base.
  public typealias Unmodified = Base

  /// The task as it was declared.
  public let base: Base
  /// The task as it was declared.
  public var unmodified: Base { base }
  private let changes: [@Sendable (inout TaskPlan) -> Void]

  init(base: Base, changes: [@Sendable (inout TaskPlan) -> Void]) {
    self.base = base
    self.changes = changes
  }

  /// The plan of the base, changed.
  public var plan: TaskPlan {
    var plan = base.plan
    for change in changes { change(&plan) }
    plan.changes = changes
    return plan
  }

  /// The name by which the calls are cancelled, after all changes.
  public var taskTag: String { plan.taskTag }

  /// The server after all changes.
  public var server: Server { plan.server }

  /// The URL after all changes.
  /// Throws ``TaskError`` when there is no remote or the result is no URL.
  public var url: URL { get async throws { try await ServerSnapshot.url(of: plan) } }

  /// The base with one more change.
  public func modified(_ change: @escaping @Sendable (inout TaskPlan) -> Void) -> Modified<Base> {
    Modified(base: base, changes: changes + [change])
  }
}

extension Modified: PayloadDownloadingTask where Base: PayloadDownloadingTask {
  /// The payload of the base.
  public typealias DownloadPayload = Base.DownloadPayload
}

extension Modified {
  /// Runs the task; reads and drops the body of the response.
  public func download<Upload>() async throws where Base == Endpoint<Upload, Void> { try await run() }
}

extension Modified {
  /// Sends the body and returns the response, whose own body is read and dropped.
  @discardableResult
  public func upload<Download>() async throws -> HTTPResponse where Base == Endpoint<HTTPBody, Download> {
    try await run()
  }
}

extension Modified: UploadingTask where Base: UploadingTask {}

extension Modified: FileBackedTask where Base: FileBackedTask {
  /// The file of the base.
  public var file: URL { base.file }
}
