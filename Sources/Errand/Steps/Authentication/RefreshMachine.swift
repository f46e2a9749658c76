/// The token of an authenticator, and the one refresh that may be under way; pure.
///
/// Every new token has the next version. Callers say which version will not do; they get a later one, at once or
/// after a refresh.
struct RefreshMachine<Token: Sendable> {
  struct Versioned: Sendable {
    let token: Token
    let version: Int
  }

  /// The answer to a caller.
  enum Demand {
    /// There is a later token.
    case use(Versioned)
    /// There will be none for now.
    case none
    /// The refresh has failed.
    case fail(any Error)
    /// A refresh is under way: the caller waits.
    case wait
    /// The caller waits, and a refresh is to begin.
    case begin
  }

  /// The next step after a refresh.
  enum Ending {
    /// These get its result.
    case tell([Int])
    /// It was cancelled, but others wait by now: it is to begin again.
    case beginAgain
  }

  private struct Refusal {
    let until: Duration
    /// The error of the refresh; nil where it gave a token that was refused at once.
    let error: (any Error)?
  }

  /// The present token.
  private(set) var current: Versioned?
  /// True once no caller waits for the refresh that is under way.
  private(set) var isCancelled = false
  /// True once the server has refused the present token.
  private(set) var isRefused = false
  /// The number of refreshes that have failed so far.
  private(set) var failureCount = 0

  private var lastVersion = 0
  private var waiters: [Int] = []
  private var isUnderWay = false
  /// The time of the last refresh that gave the present token; nil where no refresh did, or the server has accepted it.
  private var unproven: Duration?
  /// The refreshes in a row that were of no use.
  private var setbacks = 0
  private var refusal: Refusal?
  private var lastError: (any Error)?

  /// A caller needs a later version than `version`.
  ///
  /// - Parameters:
  ///   - version: The version that will not do; 0 where there was no token.
  ///   - known: What ``failureCount`` was when the caller's attempt began: a later failure is its own as well.
  ///   - id: The caller, should it have to wait.
  ///   - now: The time.
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

  /// A caller waits no longer. True when it was the last, and the refresh is to be cancelled.
  mutating func leave(_ id: Int) -> Bool {
    guard let index = waiters.firstIndex(of: id) else { return false }
    waiters.remove(at: index)
    guard waiters.isEmpty, isUnderWay, !isCancelled else { return false }
    isCancelled = true
    return true
  }

  /// A refresh has given a token, or nil where there is none. One that was cancelled too late has given its token all the
  /// same: with rotation, the one before is of no use any more.
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

  /// A refresh has failed. Whatever one throws that was cancelled is of the cancellation: other HTTP clients have errors of their
  /// own for that, and nobody who waits by now has asked for it.
  mutating func failed(_ error: any Error, at now: Duration) -> Ending {
    if isCancelled {
      isCancelled = false
      guard waiters.isEmpty else { return .beginAgain }
      finish()
      return .tell([])
    }
    finish()
    failureCount += 1
    setbacks += 1
    lastError = error
    refusal = Refusal(until: now + Self.pause(after: setbacks), error: error)
    defer { waiters = [] }
    return .tell(waiters)
  }

  /// The server has accepted a version.
  mutating func accepted(_ version: Int) {
    guard current?.version == version, unproven != nil || setbacks > 0 else { return }
    unproven = nil
    setbacks = 0
  }

  /// The server has refused a version. A new one that it never accepted is not replaced at once: that would go on for ever.
  mutating func refused(_ version: Int) {
    guard current?.version == version, !isRefused else { return }
    isRefused = true
    guard let since = unproven else { return }
    setbacks += 1
    refusal = Refusal(until: since + Self.pause(after: setbacks), error: nil)
  }

  /// Forgets the token. A refresh that is under way still tells its callers.
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

  /// The time before another refresh, after so many that were of no use: a second, then twice as long each time.
  static func pause(after setbacks: Int) -> Duration { .seconds(min(60, 1 << min(max(setbacks, 1) - 1, 6))) }
}
