import Foundation

/// What has happened to a call so far, pure.
struct CallState {
  private var hasEnded = false
  /// What was under way when the deadline passed.
  var expired: TaskError.Phase?
  var deadline: Task<Void, Never>?
  var idempotencyKey: String?
  /// The fields that the server gave the last request that was built.
  var serverHeaders = HTTPHeaders()
  var connectivity: ConnectivityAllowance?
  /// Why there was no further attempt, and how many there might have been.
  var refusal: (reason: String, mostAttempts: Int?)?
  /// Whether the server may have seen a request of the call.
  var wasPerhapsSent = false
  /// Whether a step has made of a request one that may go out once only.
  var hasSentOnceOnly = false
  /// The method and the URL of the last request.
  var method: HTTPMethod?
  var url: URL?
  /// The head of the last response.
  var response: HTTPResponse?
  var bytesSent = 0
  /// What lets the machine sleep again.
  var release: (@Sendable () -> Void)?
  /// Whether a request without Range was answered with a part.
  var hasUnaskedPart = false
  /// The body that was written to the call's file.
  weak var stored: HTTPResponseBody?

  /// Whether the caller reads the body.
  private(set) var isHandedOver = false
  /// Whether somebody wants the call to end.
  private(set) var isCancelled = false
  /// What it waits for.
  private var wait: (any Cancellable)?

  /// The call is to end; returns what has to be told.
  mutating func cancel() -> (any Cancellable)? {
    isCancelled = true
    defer { wait = nil }
    return wait
  }

  /// The call is about to wait for `wait`, and no more for what is returned, which may be let go; `mayGoOn` is false where
  /// it is to end instead.
  mutating func heed(_ wait: any Cancellable) -> (mayGoOn: Bool, old: (any Cancellable)?) {
    guard !isCancelled else { return (false, nil) }
    guard !isHandedOver, !hasEnded else { return (true, nil) }
    defer { self.wait = wait }
    return (true, self.wait)
  }

  /// The caller reads the body from now on, which is what ends when the call is to; false where it is to end at once.
  mutating func handOver(_ body: any Cancellable) -> (mayGoOn: Bool, old: (any Cancellable)?) {
    defer { isHandedOver = true }
    return heed(body)
  }

  /// What is left to be told once the call is over.
  struct Ended {
    let method: HTTPMethod?
    let url: URL?
    let response: HTTPResponse?
    let bytesSent: Int
    let release: (@Sendable () -> Void)?
  }

  /// What the call waited for, which it lets go of: a task has its result for as long as somebody holds it, and that may
  /// hold the call. To be let go outside of any lock.
  mutating func letGo() -> (any Cancellable)? {
    defer { wait = nil }
    return wait
  }

  /// The call is over; nil where it was before.
  mutating func end() -> Ended? {
    guard !hasEnded else { return nil }
    hasEnded = true
    defer { response = nil }  // the call may live as long as what it gave
    return Ended(method: method, url: url, response: response, bytesSent: bytesSent, release: release)
  }
}
