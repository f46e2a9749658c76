/// A request that was signed in, with the version of the token in it; 0 where there was none.
struct SignedRequest: Sendable {
  let request: HTTPRequest
  let version: Int
}

/// An authenticator with its token, its type forgotten.
protocol CredentialSource: Sendable, AnyObject {
  /// False where a refused token is never replaced.
  var isRefreshable: Bool { get }
  /// The number of refreshes that have failed so far; what an attempt knows when it begins.
  var failureCount: Int { get }

  /// Signs a request in, after a refresh where the token is due.
  ///
  /// - Parameters:
  ///   - request: The request, without a token.
  ///   - refused: The version that was refused; nil for the first request of an attempt.
  ///   - attempt: The attempt.
  /// - Returns: The signed request; nil where nothing later than the refused version is to be had.
  /// - Throws: What the refresh threw, or `CancellationError`.
  func sign(_ request: HTTPRequest, refused: Int?, for attempt: SigningAttempt) async throws -> SignedRequest?

  /// True when the head of a response says that the token was refused.
  func isAuthenticationFailure(_ response: HTTPResponse) -> Bool
  /// The server has accepted a version.
  func accepted(_ version: Int)
  /// The server has refused a version.
  func refused(_ version: Int)

  /// True where the replays that a version is for may be sent: `take` spends what they cost, once for all of them.
  func spend(_ version: Int, _ take: () -> Bool) -> Bool

  /// The number of times that the token was forgotten.
  var forgetCount: Int { get }

  /// Forgets the token.
  func forget() async throws
}

/// An attempt that is signed in, as far as that concerns those who do it.
struct SigningAttempt: Sendable {
  /// The ``CredentialSource/failureCount`` when it began.
  var known = 0
  /// True where a field that the request has already stays as it is.
  let yields: Bool
  let context: RefreshContext
  /// Notes a moment of the call.
  let note: @Sendable (CallMoment) -> Void
}

/// The record of one caller's wait for a token: noted from the moment that a refresh is under way.
final class RefreshWait: Sendable {
  private enum Stage { case new, beginning, begun, ending, ended }

  private let stage = Lock(Stage.new)
  private let note: @Sendable (CallMoment) -> Void

  init(_ note: @escaping @Sendable (CallMoment) -> Void) { self.note = note }

  /// The caller waits for a refresh; noted once.
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

  /// The caller waits no longer.
  func end() {
    let wasBegun = stage.withLock { stage in
      defer { stage = stage == .beginning ? .ending : .ended }  // whoever notes the beginning notes the end after it
      return stage == .begun
    }
    if wasBegun { note(.refreshEnded) }
  }
}

/// The authenticators whose refresh, or removal, the surrounding Swift task is: what that sends is not signed in by them.
enum RefreshScope {
  enum Work { case refresh, removal }

  /// A refresh, or a removal. Swift tasks that it has begun may outlive it.
  private final class Stay: Sendable {
    let work: Work
    /// The refresh that has begun this removal, and goes on after it.
    private let outer: Stay?
    private let isOver = Lock(false)

    init(_ work: Work, within outer: Stay?) {
      self.work = work
      self.outer = outer
    }

    /// True once that has ended too.
    var hasEnded: Bool { hasEndedItself && outer?.hasEnded ?? true }

    var hasEndedItself: Bool { isOver.withLock { $0 } }

    func end() { isOver.withLock { $0 = true } }
  }

  @TaskLocal private static var stays: [ObjectIdentifier: Stay] = [:]

  static func adding<Value>(
    _ source: any CredentialSource, _ work: Work, _ body: () async throws -> Value
  ) async rethrows -> Value {
    let outer = stays[ObjectIdentifier(source)].flatMap { $0.hasEnded ? nil : $0 }
    let stay = Stay(work, within: outer)
    defer { stay.end() }
    return try await $stays.withValue(stays.merging([ObjectIdentifier(source): stay]) { $1 }, operation: body)
  }

  /// True where the surrounding Swift task is part of a refresh or a removal that is under way.
  static func contains(_ source: any CredentialSource) -> Bool {
    stays[ObjectIdentifier(source)].map { !$0.hasEnded } ?? false
  }

  /// The sources of which the surrounding Swift task is part of a refresh or a removal that is under way.
  static var underWay: Set<ObjectIdentifier> {
    stays.isEmpty ? [] : Set(stays.filter { !$0.value.hasEnded }.keys)
  }

  /// True where the surrounding Swift task is part of a removal that is under way.
  static func isRemoval(of source: any CredentialSource) -> Bool {
    stays[ObjectIdentifier(source)].map { $0.work == .removal && !$0.hasEndedItself } ?? false
  }
}
