/// A queue that runs its tasks one at a time, first in, first out.
///
/// Streams, server-sent events and a transfer's requests leave the queue when the response head arrives.
///
/// While a call holds a queue, its hooks and steps can't start other calls on the same queue, not even in child tasks
/// or in a `Task { }`. Those calls fail with code `.reentrantQueue`. To queue another call, use `manager.start` or
/// `Task.detached`, and don't await it in the hook:
///
///     func postflight(response: HTTPResponse) async throws {
///       server.manager.start(Sync())   // runs when this call has left the queue
///     }
///
/// A token refresh or a coalesced request, which several calls can wait for, holds the queues of the call that started
/// it.
public struct SerialQueue: Sendable, Hashable {
  /// The queue's name. `nil` for ``none``.
  public let name: String?

  /// No queue.
  public static let none = SerialQueue(name: nil)

  /// Returns the manager's queue with this name.
  public static func named(_ name: String) -> SerialQueue { SerialQueue(name: name) }
}
