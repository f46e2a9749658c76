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
