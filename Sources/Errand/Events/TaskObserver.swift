/// Is told what happens to the calls of a server, in the order in which it happens to each of them.
///
/// Install observers in ``ServerConfiguration/observers``. Where there is none, events cost nothing.
public protocol TaskObserver: Sendable {
  /// Something happened. Called where it happens, so return at once: hand anything slow to a queue of your own.
  func observe(_ event: TaskEvent)
}
