public import ErrandFoundation

/// A task with a modified plan, returned by every modifier.
///
/// It has the same methods as its base. Modifying it again returns a `Modified` with the same base.
public struct Modified<Base: ServerTask>: ServerTask {
  /// The type of the task that further modifiers wrap: the same base.
  public typealias Unmodified = Base

  /// The task as declared.
  public let base: Base
  /// The task as declared.
  public var unmodified: Base { base }
  private let changes: [@Sendable (inout TaskPlan) -> Void]

  init(base: Base, changes: [@Sendable (inout TaskPlan) -> Void]) {
    self.base = base
    self.changes = changes
  }

  /// The base's plan with all changes applied.
  public var plan: TaskPlan {
    var plan = base.plan
    for change in changes { change(&plan) }
    plan.changes = changes
    return plan
  }

  /// The tag used to cancel calls together, with all changes applied.
  public var taskTag: String { plan.taskTag }

  /// The server, with all changes applied.
  public var server: Server { plan.server }

  /// The URL, with all changes applied. Throws ``TaskError`` if the server has no remote or the resulting URL is
  /// invalid.
  public var url: URL { get async throws { try await ServerSnapshot.url(of: plan) } }

  /// Returns the task with one more change.
  public func modified(_ change: @escaping @Sendable (inout TaskPlan) -> Void) -> Modified<Base> {
    Modified(base: base, changes: changes + [change])
  }
}

extension Modified: PayloadDownloadingTask where Base: PayloadDownloadingTask {
  /// The type of the base task's payload.
  public typealias DownloadPayload = Base.DownloadPayload
}

extension Modified: UploadingTask where Base: UploadingTask {}

extension Modified: FileBackedTask where Base: FileBackedTask {
  /// The file of the base task.
  public var file: URL { base.file }
}
