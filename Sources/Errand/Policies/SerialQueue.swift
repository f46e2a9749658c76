/// A queue whose tasks run one at a time, in the order in which they came.
///
/// A stream has its turn until its head is there; so do the events and the requests of a transfer.
///
/// While a call holds a queue, its hooks and steps can't begin other calls on that queue: those fail with code `.reentrantQueue`, also
/// in child tasks and in a `Task { }`. To begin a call that waits for its turn, use `manager.start` or
/// `Task.detached`, and don't await it in the hook:
///
///     func postflight(response: HTTPResponse) async throws {
///       server.manager.start(Sync())   // runs when this call has left the queue
///     }
///
/// A refresh, or a shared request, that several calls wait for holds the queues of the one that began it.
public struct SerialQueue: Sendable, Hashable {
  /// The queue's name; nil is no queue.
  public let name: String?

  /// No queue.
  public static let none = SerialQueue(name: nil)

  /// The manager's queue of that name.
  public static func named(_ name: String) -> SerialQueue { SerialQueue(name: name) }
}
