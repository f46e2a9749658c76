/// A request after authentication.
struct SignedRequest: Sendable {
  let request: HTTPRequest
  /// The version of its token. 0 if no token is available, `nil` if the request has its own credentials.
  let version: Int?
}

/// A single token of an authenticator.
protocol CredentialSource: RequestSigner {
  /// The key of the token, from ``Authenticator/tokenKey(for:)``.
  var key: String { get }
  /// How often the token has been forgotten.
  var forgetCount: Int { get }
  var isRefreshable: Bool { get }
  /// The number of failed refreshes so far. An attempt stores this number when it starts.
  var failureCount: Int { get }

  /// Authenticates a request, refreshing the token first if necessary. `refused` is the token version that the server
  /// rejected, or 0 if it rejected a request without a token. Returns `nil` if no later version is available. Throws
  /// the error of the refresh, ``TaskError/forgotten`` if the source is closed, or `CancellationError`.
  func sign(_ request: HTTPRequest, refused: Int?, for attempt: SigningAttempt) async throws -> SignedRequest?

  func isAuthenticationFailure(_ response: HTTPResponse) -> Bool
  func accepted(_ version: Int)
  func refused(_ version: Int, by response: HTTPResponse)

  /// Whether requests can be retried with this token version. `take` charges all of these retries to the budget once.
  func spend(_ version: Int, _ take: () -> Bool) -> Bool
}

struct SigningAttempt: Sendable {
  /// The ``CredentialSource/failureCount`` at the start of the attempt.
  var known = 0
  /// The request before authentication, whose credentials are kept. `nil` if they are replaced.
  let kept: HTTPRequest?
  let context: RefreshContext
  /// The time until the call's deadline, or `nil` if it has none.
  var remaining: @Sendable () -> Duration? = { nil }
  let note: @Sendable (CallMoment) -> Void
}

/// Records one caller's wait for a token, starting when a refresh is running.
final class RefreshWait: Sendable {
  private enum Stage { case new, beginning, begun, ending, ended }

  private let stage = Lock(Stage.new)
  private let note: @Sendable (CallMoment) -> Void

  init(_ note: @escaping @Sendable (CallMoment) -> Void) { self.note = note }

  func begin() {
    let isFirst = stage.withLock { stage in
      defer { if stage == .new { stage = .beginning } }
      return stage == .new
    }
    guard isFirst else { return }
    note(.refreshStarted)
    let hasEnded = stage.withLock { stage in
      stage = stage == .ending ? .ended : .begun
      return stage == .ended
    }
    if hasEnded { note(.refreshEnded) }
  }

  func end() {
    let wasBegun = stage.withLock { stage in
      defer { stage = stage == .beginning ? .ending : .ended }  // if `begin()` is running, it records the end
      return stage == .begun
    }
    if wasBegun { note(.refreshEnded) }
  }
}

/// Tracks which authenticators this Swift task is refreshing or clearing. Requests that they make are not
/// authenticated.
enum RefreshScope {
  enum Work { case refresh, removal }

  /// A refresh or a removal. Swift tasks that it starts can outlive it.
  private final class ActiveRefresh: Sendable {
    let work: Work
    /// The refresh that started this removal and continues after it.
    private let outer: ActiveRefresh?
    private let isOver = Lock(false)

    init(_ work: Work, within outer: ActiveRefresh?) {
      self.work = work
      self.outer = outer
    }

    var hasEnded: Bool { hasEndedItself && outer?.hasEnded ?? true }

    var hasEndedItself: Bool { isOver.withLock { $0 } }

    func end() { isOver.withLock { $0 = true } }
  }

  @TaskLocal private static var active: [ObjectIdentifier: ActiveRefresh] = [:]

  static func adding<Value>(
    _ owner: TokenOwner, _ work: Work, _ body: () async throws -> Value
  ) async rethrows -> Value {
    let outer = active[ObjectIdentifier(owner)].flatMap { $0.hasEnded ? nil : $0 }
    let (refresh, node) = (ActiveRefresh(work, within: outer), WaitNode())
    owner.node.wait(for: node)
    defer {
      owner.node.stopWaiting(for: node)
      refresh.end()
    }
    return try await $active.withValue(active.merging([ObjectIdentifier(owner): refresh]) { $1 }) {
      switch work {
      case .refresh: try await node.workAlone(body)  // other calls than the one that began it may wait for it
      case .removal: try await node.work(body)
      }
    }
  }

  static func contains(_ owner: TokenOwner) -> Bool {
    active[ObjectIdentifier(owner)].map { !$0.hasEnded } ?? false
  }

  /// Whether the current task belongs to a refresh or a removal.
  static var isActive: Bool { active.values.contains { !$0.hasEnded } }

  static func isRemoval(of owner: TokenOwner) -> Bool {
    active[ObjectIdentifier(owner)].map { $0.work == .removal && !$0.hasEndedItself } ?? false
  }
}
