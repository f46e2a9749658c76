/// Records a server's calls. Each call is recorded when it ends, with secrets redacted.
///
/// Install recorders in ``ServerConfiguration/recorders``. Without recorders, calls don't collect data for recording.
public protocol CallRecorder: Sendable {
  /// Receives a recorded call. Return quickly, because the call doesn't end until this method returns.
  func record(_ call: RecordedCall)

  /// Receives a closure that creates the recorded call. Implement this method to redact calls on another thread,
  /// because redacting a large body can take longer than the call itself. The default implementation creates and
  /// records the call immediately.
  ///
  /// - Parameters:
  ///   - size: The approximate number of bytes kept in memory until `make` is released.
  ///   - make: Creates the recorded call. Always returns the same call.
  func record(size: Int, later make: @escaping @Sendable () -> RecordedCall)
}

extension CallRecorder {
  /// Creates and records the call immediately.
  public func record(size: Int, later make: @escaping @Sendable () -> RecordedCall) { record(make()) }
}
