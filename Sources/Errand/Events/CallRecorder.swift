/// Receives every call of a server once it has ended, as a value with its secrets hidden.
///
/// Install recorders in ``ServerConfiguration/recorders``. Where there is none, calls keep nothing for them.
public protocol CallRecorder: Sendable {
  /// Receives a call. The end of the call waits for this function: it is to return at once.
  func record(_ call: RecordedCall)

  /// Receives what makes the call, for those that work on a thread of their own: hiding the secrets of a large body may take longer than the
  /// call did. Makes it at once, and records it, unless implemented.
  ///
  /// - Parameters:
  ///   - size: About the bytes that are kept in memory until `make` is released.
  ///   - make: Makes the call; the same one where it is called again.
  func record(size: Int, later make: @escaping @Sendable () -> RecordedCall)
}

extension CallRecorder {
  /// Makes the call at once, and records it.
  public func record(size: Int, later make: @escaping @Sendable () -> RecordedCall) { record(make()) }
}
