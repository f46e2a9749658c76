/// The state of an authenticator's token and its refresh. Does no I/O.
///
/// Every new token has the next version number. A caller passes the version that it can no longer use and gets a later
/// version, immediately or after a refresh.
struct RefreshMachine<Token: Sendable> {
  struct Versioned: Sendable {
    let token: Token
    let version: Int
  }

  enum Demand {
    case use(Versioned)
    /// No token is currently available.
    case none
    case fail(any Error)
    case wait
    case begin
  }

  enum Ending {
    /// The callers to resume with the result.
    case notify([Int])
    /// The refresh was cancelled, but new callers have arrived: start another refresh.
    case beginAgain
  }

  private struct Refusal {
    let until: Duration
    /// The error of the refresh. `nil` if the server rejected the new token immediately.
    let error: (any Error)?
    /// Whether a caller without a usable token can ask again immediately.
    var isTransient = false
  }

  private(set) var current: Versioned?
  /// Whether the running refresh has no callers left.
  private(set) var isCancelled = false
  private(set) var isRefused = false
  private(set) var failureCount = 0
  /// Whether the app has forgotten the token. Callers then fail: a later token may belong to another account.
  private(set) var isClosed = false

  private var lastVersion = 0
  private var waiters: [Int] = []
  private var isUnderWay = false
  /// The time of the refresh that returned the current token. `nil` after the server has accepted the token, or if it
  /// didn't come from a refresh.
  private var unproven: Duration?
  /// The number of consecutive refreshes that failed or whose token was rejected.
  private var setbacks = 0
  private var refusal: Refusal?
  private var lastError: (any Error)?

  /// Handles a caller that needs a later version than `version`, which is 0 without a token. `known` is the
  /// ``failureCount`` when the caller's attempt began. If a refresh has failed since then, the caller receives its
  /// error. `isUrgent` is `false` if the caller can still use its token.
  mutating func demand(
    beyond version: Int, known: Int, isUrgent: Bool = true, id: Int, at now: Duration
  ) -> Demand {
    if isClosed { return .fail(TaskError.forgotten) }
    if let current, current.version > version { return .use(current) }
    guard !isUnderWay else {
      waiters.append(id)
      return .wait
    }
    if failureCount > known, let lastError { return .fail(lastError) }
    if let refusal, now < refusal.until, !(isUrgent && refusal.isTransient) {
      return refusal.error.map { .fail($0) } ?? .none
    }
    isUnderWay = true
    waiters.append(id)
    return .begin
  }

  /// Removes a waiting caller. Returns whether it was the last one, in which case the refresh must be cancelled.
  mutating func leave(_ id: Int) -> Bool {
    guard let index = waiters.firstIndex(of: id) else { return false }
    waiters.remove(at: index)
    guard waiters.isEmpty, isUnderWay, !isCancelled else { return false }
    isCancelled = true
    return true
  }

  /// Ends a successful refresh and returns the callers to resume. A token that arrives after a cancellation is also
  /// kept, because the server may have revoked the old token.
  mutating func succeeded(_ token: Token?, isNew: Bool, at now: Duration) -> [Int] {
    finish()
    refusal = nil
    lastError = nil
    if let token, !isClosed {
      lastVersion += 1
      current = Versioned(token: token, version: lastVersion)
      isRefused = false
      unproven = isNew ? now : nil
    }
    defer { waiters = [] }
    return waiters
  }

  /// Ends a failed refresh. If the refresh was cancelled, any error counts as a cancellation, because HTTP clients
  /// throw various errors when cancelled. Callers that have arrived in the meantime get another refresh.
  mutating func failed(_ error: any Error, at now: Duration) -> Ending {
    if isCancelled, !isClosed {
      isCancelled = false
      guard waiters.isEmpty else { return .beginAgain }
      finish()
      return .notify([])
    }
    finish()
    failureCount += 1
    setbacks += 1
    lastError = error
    refusal = Refusal(
      until: now + Self.pause(after: setbacks), error: error,
      isTransient: (error as? TaskError)?.isTransientTokenFailure ?? false)
    defer { waiters = [] }
    return .notify(waiters)
  }

  mutating func accepted(_ version: Int) {
    guard current?.version == version, unproven != nil || setbacks > 0 else { return }
    unproven = nil
    setbacks = 0
  }

  /// Records that the server rejected a version. If the server has never accepted it, it is not replaced immediately,
  /// to avoid an endless loop.
  mutating func refused(_ version: Int) {
    guard current?.version == version, !isRefused else { return }
    isRefused = true
    guard let since = unproven else { return }
    setbacks += 1
    refusal = Refusal(until: since + Self.pause(after: setbacks), error: nil)
  }

  /// Forgets the token. A running refresh still resumes its callers.
  mutating func forget() {
    current = nil
    isRefused = false
    unproven = nil
    setbacks = 0
    refusal = nil
    lastError = nil
  }

  /// Forgets the token for good. A running refresh still resumes its callers, but its token is not kept.
  mutating func close() {
    forget()
    isClosed = true
  }

  private mutating func finish() {
    isUnderWay = false
    isCancelled = false
  }

  /// Returns the pause after a number of consecutive setbacks: 1 second, doubled each time, up to 60 seconds.
  static func pause(after setbacks: Int) -> Duration { .seconds(min(60, 1 << min(max(setbacks, 1) - 1, 6))) }
}

extension TaskError {
  /// The error of a call whose token was forgotten while it was running.
  static var forgotten: TaskError {
    var error = TaskError(
      .authenticationFailed,
      "the call can't be authenticated because `Authentication.forget()` was called after it began: start a new call",
      phase: .authenticating)
    error.isTokenFailure = true
    return error
  }

  /// Whether another token request may succeed immediately. After a 429, the server expects a pause.
  fileprivate var isTransientTokenFailure: Bool {
    if code == .reentrantQueue { return true }  // the next call may not deadlock
    guard let status else { return isRetryable }
    return status == 408 || status.kind == .serverError
  }
}
