/// A type-erased authenticator, which keeps its tokens until the app forgets them.
protocol Credentials: Sendable, AnyObject {
  var owner: TokenOwner { get }
  /// The tokens for calls that begin now.
  var tokens: any Tokens { get }

  func forget() async throws
}

/// Identifies an authenticator for its tokens.
final class TokenOwner: Sendable {
  /// Waits for the refreshes and removals of the tokens.
  let node = WaitNode()
}

/// Keeps an authenticator's tokens.
final class AuthenticatorCredentials<Method: Authenticator>: Credentials {
  private let method: Method
  private let table: Lock<TokenTable<Method>>
  let owner = TokenOwner()

  init(_ method: Method) {
    self.method = method
    table = Lock(TokenTable(method, owner))
  }

  var tokens: any Tokens { table.withLock { $0 } }

  // MARK: Forgetting

  func forget() async throws {
    if RefreshScope.isRemoval(of: owner) { return }  // already running
    if RefreshScope.contains(owner) {
      // A refresh called this method, so waiting for it would deadlock. The token that it returns is kept.
      table.withLock { $0 }.forget()
      return try await remove()
    }
    let wait = owner.node.beginWait()
    let removal = newRemoval()
    guard let wait else { return }  // the removal cancels the refresh, which may be waiting for this call
    defer { wait.end() }
    try await removal.value
  }

  /// Forgets the tokens in memory and starts to remove the stored tokens.
  private func newRemoval() -> Task<Void, any Error> {
    let (running, refreshes) = AsyncStream<Task<Void, Never>>.makeStream()
    let removal = table.withLock { table in
      let removal = Task { [self, earlier = table.removal] in try await remove(after: running, earlier) }
      // Atomically: the removal waits for earlier refreshes, and later refreshes wait for the removal.
      let ended = table.ended(until: removal)
      for refresh in ended.refreshes { refreshes.yield(refresh) }
      table = ended.next
      return removal
    }
    refreshes.finish()
    return removal
  }

  private func remove(after running: AsyncStream<Task<Void, Never>>, _ earlier: Task<Void, any Error>?) async throws {
    var refreshes: [Task<Void, Never>] = []
    for await refresh in running {
      refresh.cancel()
      refreshes.append(refresh)
    }
    for refresh in refreshes { await refresh.value }  // otherwise their tokens would be stored after the removal
    _ = await earlier?.result
    try await remove()
  }

  private func remove() async throws { try await RefreshScope.adding(owner, .removal) { try await method.forget() } }
}
