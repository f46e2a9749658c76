/// Receives every call of a server when it has ended, with secrets redacted.
///
/// Install recorders in ``ServerConfiguration/recorders``. Without recorders, calls don't keep data for them.
public protocol CallRecorder: Sendable {
  /// Receives a call. Return quickly, because the call ends only when this function returns.
  func record(_ call: RecordedCall)

  /// Receives a closure that creates the recorded call. Implement this method to record on another thread, because
  /// redacting a large body can take longer than the call. The default implementation creates and records the call
  /// immediately.
  ///
  /// - Parameters:
  ///   - size: The approximate number of bytes kept in memory until `make` is released.
  ///   - make: Creates the recorded call. Returns the same call each time.
  func record(size: Int, later make: @escaping @Sendable () -> RecordedCall)
}

extension CallRecorder {
  /// Creates and records the call immediately.
  public func record(size: Int, later make: @escaping @Sendable () -> RecordedCall) { record(make()) }
}
