/// A task whose exchange is echoed, request and response, redacted.
public protocol EchoingTask: ServerTask {}

extension EchoingTask {
  /// `.full`.
  public var echoStyle: EchoStyle { .full }
}

/// A task of which recordings and echoes show nothing but that it ran.
public protocol UnrecordedTask: ServerTask {}

extension UnrecordedTask {
  /// `.hidden`.
  public var recordingStyle: RecordingStyle { .hidden }
}

/// A task that may be sent twice whatever its method is.
public protocol IdempotentTask: ServerTask {}

extension IdempotentTask {
  /// `.safeToRepeat`.
  public var idempotency: Idempotency { .safeToRepeat }
}

/// A task whose body is sent packed by gzip, whatever its size. The server must know it.
public protocol GZipUploadingTask: ServerTask {}

extension GZipUploadingTask {
  /// 0.
  public var gzipUploadThreshold: Int { 0 }
}

/// A task whose method is GET.
public protocol ServerGETTask: ServerTask {}

extension ServerGETTask {
  /// GET.
  public var httpMethod: HTTPMethod { .get }
}

/// A task whose method is POST.
public protocol ServerPOSTTask: ServerTask {}

extension ServerPOSTTask {
  /// POST.
  public var httpMethod: HTTPMethod { .post }
}

/// A task whose method is PUT.
public protocol ServerPUTTask: ServerTask {}

extension ServerPUTTask {
  /// PUT.
  public var httpMethod: HTTPMethod { .put }
}

/// A task whose method is PATCH.
public protocol ServerPATCHTask: ServerTask {}

extension ServerPATCHTask {
  /// PATCH.
  public var httpMethod: HTTPMethod { .patch }
}

/// A task whose method is DELETE.
public protocol ServerDELETETask: ServerTask {}

extension ServerDELETETask {
  /// DELETE.
  public var httpMethod: HTTPMethod { .delete }
}

/// A task whose method is HEAD.
public protocol ServerHEADTask: ServerTask {}

extension ServerHEADTask {
  /// HEAD.
  public var httpMethod: HTTPMethod { .head }
}

/// A task whose method is OPTIONS.
public protocol ServerOPTIONSTask: ServerTask {}

extension ServerOPTIONSTask {
  /// OPTIONS.
  public var httpMethod: HTTPMethod { .options }
}

/// A task whose method is TRACE.
public protocol ServerTRACETask: ServerTask {}

extension ServerTRACETask {
  /// TRACE.
  public var httpMethod: HTTPMethod { .trace }
}

/// A task whose method is QUERY.
public protocol ServerQUERYTask: ServerTask {}

extension ServerQUERYTask {
  /// QUERY.
  public var httpMethod: HTTPMethod { .query }
}
