// A task with two method markers does not compile, and these declarations explain why. Without them, the error would
// list every default implementation of `httpMethod`. A task that declares `httpMethod` can have any markers.

extension ServerGETTask where Self: ServerPOSTTask {
  /// Unavailable: a task has only one method.
  @available(*, unavailable, message: "a task has only one method: remove GET or POST, or declare httpMethod")
  public var httpMethod: HTTPMethod { .get }
}

extension ServerGETTask where Self: ServerPUTTask {
  /// Unavailable: a task has only one method.
  @available(*, unavailable, message: "a task has only one method: remove GET or PUT, or declare httpMethod")
  public var httpMethod: HTTPMethod { .get }
}

extension ServerGETTask where Self: ServerPATCHTask {
  /// Unavailable: a task has only one method.
  @available(*, unavailable, message: "a task has only one method: remove GET or PATCH, or declare httpMethod")
  public var httpMethod: HTTPMethod { .get }
}

extension ServerGETTask where Self: ServerDELETETask {
  /// Unavailable: a task has only one method.
  @available(*, unavailable, message: "a task has only one method: remove GET or DELETE, or declare httpMethod")
  public var httpMethod: HTTPMethod { .get }
}

extension ServerGETTask where Self: ServerQUERYTask {
  /// Unavailable: a task has only one method.
  @available(*, unavailable, message: "a task has only one method: remove GET or QUERY, or declare httpMethod")
  public var httpMethod: HTTPMethod { .get }
}

extension ServerPOSTTask where Self: ServerPUTTask {
  /// Unavailable: a task has only one method.
  @available(*, unavailable, message: "a task has only one method: remove POST or PUT, or declare httpMethod")
  public var httpMethod: HTTPMethod { .post }
}

extension ServerPOSTTask where Self: ServerPATCHTask {
  /// Unavailable: a task has only one method.
  @available(*, unavailable, message: "a task has only one method: remove POST or PATCH, or declare httpMethod")
  public var httpMethod: HTTPMethod { .post }
}

extension ServerPOSTTask where Self: ServerDELETETask {
  /// Unavailable: a task has only one method.
  @available(*, unavailable, message: "a task has only one method: remove POST or DELETE, or declare httpMethod")
  public var httpMethod: HTTPMethod { .post }
}

extension ServerPOSTTask where Self: ServerQUERYTask {
  /// Unavailable: a task has only one method.
  @available(*, unavailable, message: "a task has only one method: remove POST or QUERY, or declare httpMethod")
  public var httpMethod: HTTPMethod { .post }
}

extension ServerPUTTask where Self: ServerPATCHTask {
  /// Unavailable: a task has only one method.
  @available(*, unavailable, message: "a task has only one method: remove PUT or PATCH, or declare httpMethod")
  public var httpMethod: HTTPMethod { .put }
}

extension ServerPUTTask where Self: ServerDELETETask {
  /// Unavailable: a task has only one method.
  @available(*, unavailable, message: "a task has only one method: remove PUT or DELETE, or declare httpMethod")
  public var httpMethod: HTTPMethod { .put }
}

extension ServerPUTTask where Self: ServerQUERYTask {
  /// Unavailable: a task has only one method.
  @available(*, unavailable, message: "a task has only one method: remove PUT or QUERY, or declare httpMethod")
  public var httpMethod: HTTPMethod { .put }
}

extension ServerPATCHTask where Self: ServerDELETETask {
  /// Unavailable: a task has only one method.
  @available(*, unavailable, message: "a task has only one method: remove PATCH or DELETE, or declare httpMethod")
  public var httpMethod: HTTPMethod { .patch }
}

extension ServerPATCHTask where Self: ServerQUERYTask {
  /// Unavailable: a task has only one method.
  @available(*, unavailable, message: "a task has only one method: remove PATCH or QUERY, or declare httpMethod")
  public var httpMethod: HTTPMethod { .patch }
}

extension ServerDELETETask where Self: ServerQUERYTask {
  /// Unavailable: a task has only one method.
  @available(*, unavailable, message: "a task has only one method: remove DELETE or QUERY, or declare httpMethod")
  public var httpMethod: HTTPMethod { .delete }
}
