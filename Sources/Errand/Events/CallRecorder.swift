/// Receives every call of a server once it has ended, as a value with its secrets hidden.
///
/// Install recorders in ``ServerConfiguration/recorders``. Where there is none, calls keep nothing for them.
public protocol CallRecorder: Sendable {
  /// Receives a call. The end of the call waits for this function: it is to return at once.
  func record(_ call: RecordedCall)
}
