/// The state of an authenticator's token and its refresh. Does no I/O.
///
/// Every new token has the next version. Callers pass the version that is not good enough and get a later version,
/// immediately or after a refresh.
struct RefreshMachine<Token: Sendable> {
  struct Versioned: Sendable {
    let token: Token
    let version: Int
  }

  enum Demand {
    case use(Versioned)
    /// No token is available for now.
    case none
    case fail(any Error)
    case wait
    case begin
  }

  enum Ending {
    /// These callers get the result.
    case notify([Int])
    /// The refresh was cancelled, but new callers have arrived: start another refresh.
    case beginAgain
  }

  private struct Refusal {
    let until: Duration
    /// The error of the refresh. `nil` if its token was rejected immediately.
    let error: (any Error)?
  }

  private(set) var current: Versioned?
  /// Whether the running refresh has no callers left.
  private(set) var isCancelled = false
  private(set) var isRefused = false
  private(set) var failureCount = 0

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

  /// Answers a caller that needs a later version than `version`, which is 0 without a token. `known` is the
  /// ``failureCount`` when its attempt began: the caller shares later failures.
  mutating func demand(beyond version: Int, known: Int, id: Int, at now: Duration) -> Demand {
    if let current, current.version > version { return .use(current) }
    guard !isUnderWay else {
      waiters.append(id)
      return .wait
    }
    if failureCount > known, let lastError { return .fail(lastError) }
    if let refusal, now < refusal.until { return refusal.error.map { .fail($0) } ?? .none }
    isUnderWay = true
    waiters.append(id)
    return .begin
  }

  /// Removes a waiting caller. Returns whether the caller was the last one, so the refresh must be cancelled.
  mutating func leave(_ id: Int) -> Bool {
    guard let index = waiters.firstIndex(of: id) else { return false }
    waiters.remove(at: index)
    guard waiters.isEmpty, isUnderWay, !isCancelled else { return false }
    isCancelled = true
    return true
  }

  /// Ends a successful refresh and returns the callers to resume. A token that arrives after a cancellation is also
  /// kept, because with rotation the old token no longer works.
  mutating func succeeded(_ token: Token?, isNew: Bool, at now: Duration) -> [Int] {
    finish()
    refusal = nil
    lastError = nil
    if let token {
      lastVersion += 1
      current = Versioned(token: token, version: lastVersion)
      isRefused = false
      unproven = isNew ? now : nil
    }
    defer { waiters = [] }
    return waiters
  }

  /// Ends a failed refresh. After a cancellation, any error counts as cancelled, because HTTP clients throw various
  /// errors in that case, and the callers that are waiting now didn't request the cancellation.
  mutating func failed(_ error: any Error, at now: Duration) -> Ending {
    if isCancelled {
      isCancelled = false
      guard waiters.isEmpty else { return .beginAgain }
      finish()
      return .notify([])
    }
    finish()
    failureCount += 1
    setbacks += 1
    lastError = error
    refusal = Refusal(until: now + Self.pause(after: setbacks), error: error)
    defer { waiters = [] }
    return .notify(waiters)
  }

  mutating func accepted(_ version: Int) {
    guard current?.version == version, unproven != nil || setbacks > 0 else { return }
    unproven = nil
    setbacks = 0
  }

  /// Called when the server rejects a version. A new version that it has never accepted is not replaced immediately, to
  /// avoid an endless loop.
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

  private mutating func finish() {
    isUnderWay = false
    isCancelled = false
  }

  /// The pause after a number of consecutive setbacks: 1 second, doubled each time, up to 60 seconds.
  static func pause(after setbacks: Int) -> Duration { .seconds(min(60, 1 << min(max(setbacks, 1) - 1, 6))) }
}
