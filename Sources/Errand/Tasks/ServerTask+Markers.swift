/// A task whose request and response are echoed with secrets redacted.
public protocol EchoingTask: ServerTask {}

extension EchoingTask {
  /// Defaults to `.full`.
  public var echoStyle: EchoStyle { .full }
}

/// A task whose content is hidden in recordings and echoes, which only show that the task ran.
public protocol UnrecordedTask: ServerTask {}

extension UnrecordedTask {
  /// Defaults to `.hidden`.
  public var recordingStyle: RecordingStyle { .hidden }
}

/// A task whose request can be sent more than once, regardless of its method.
public protocol IdempotentTask: ServerTask {}

extension IdempotentTask {
  /// Defaults to `.safeToRepeat`.
  public var idempotency: Idempotency { .safeToRepeat }
}

/// A task whose body is compressed with gzip, regardless of its size. The server must support this.
public protocol GZipUploadingTask: ServerTask {}

extension GZipUploadingTask {
  /// Defaults to 0, which compresses every body.
  public var gzipUploadThreshold: Int { 0 }
}

/// A task whose method is GET.
public protocol ServerGETTask: ServerTask {}

extension ServerGETTask {
  /// Defaults to GET.
  public var httpMethod: HTTPMethod { .get }
}

/// A task whose method is POST.
public protocol ServerPOSTTask: ServerTask {}

extension ServerPOSTTask {
  /// Defaults to POST.
  public var httpMethod: HTTPMethod { .post }
}

/// A task whose method is PUT.
public protocol ServerPUTTask: ServerTask {}

extension ServerPUTTask {
  /// Defaults to PUT.
  public var httpMethod: HTTPMethod { .put }
}

/// A task whose method is PATCH.
public protocol ServerPATCHTask: ServerTask {}

extension ServerPATCHTask {
  /// Defaults to PATCH.
  public var httpMethod: HTTPMethod { .patch }
}

/// A task whose method is DELETE.
public protocol ServerDELETETask: ServerTask {}

extension ServerDELETETask {
  /// Defaults to DELETE.
  public var httpMethod: HTTPMethod { .delete }
}

/// A task whose method is HEAD.
public protocol ServerHEADTask: ServerTask {}

extension ServerHEADTask {
  /// Defaults to HEAD.
  public var httpMethod: HTTPMethod { .head }
}

/// A task whose method is OPTIONS.
public protocol ServerOPTIONSTask: ServerTask {}

extension ServerOPTIONSTask {
  /// Defaults to OPTIONS.
  public var httpMethod: HTTPMethod { .options }
}

/// A task whose method is TRACE.
public protocol ServerTRACETask: ServerTask {}

extension ServerTRACETask {
  /// Defaults to TRACE.
  public var httpMethod: HTTPMethod { .trace }
}

/// A task whose method is QUERY.
public protocol ServerQUERYTask: ServerTask {}

extension ServerQUERYTask {
  /// Defaults to QUERY.
  public var httpMethod: HTTPMethod { .query }
}
