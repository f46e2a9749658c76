import ErrandFoundation

/// The `Idempotency-Key` of an operation that several calls can make, such as the runs of a handle or the connections
/// of an event stream. It is the key of the first request, because a server that has seen that key must recognize the
/// operation.
package final class OperationKey: Sendable {
  private let kept: Lock<String?>

  /// Creates a key. `nil` keeps the key of the first request, if it has one.
  package init(_ key: String? = nil) { kept = Lock(key) }

  var value: String? { kept.withLock { $0 } }

  /// Sets the kept key or, if this is the first request, keeps its key.
  func apply(to request: inout HTTPRequest) {
    kept.withLock { kept in
      if let kept { request.headers[.idempotencyKey] = kept } else { kept = request.headers[.idempotencyKey] }
    }
  }
}
