/// A type-erased authenticator, with a source of credentials for each of its tokens.
protocol Credentials: Sendable, AnyObject {
  var owner: TokenOwner { get }
  var forgetCount: Int { get }

  /// Returns the source for a request. Requests that use the same token get the same source.
  func source(for request: HTTPRequest) -> any CredentialSource

  func isAuthenticationFailure(_ response: HTTPResponse) -> Bool

  func forget() async throws
}

/// Identifies an authenticator for its tokens, and counts how often they were forgotten.
final class TokenOwner: Sendable {
  /// Waits for the refreshes and removals of the tokens.
  let node = WaitNode()
  private let count = Lock(0)

  var forgetCount: Int { count.withLock { $0 } }

  /// Call this after forgetting the tokens: a caller that has read an old token then notices that it is forgotten.
  func noteForgotten() { count.withLock { $0 += 1 } }
}

/// Keeps an authenticator's tokens, by ``Authenticator/tokenKey(for:)``.
final class AuthenticatorCredentials<Method: Authenticator>: Credentials {
  private struct State {
    var sources: [String: CredentialRegistry<Method>] = [:]
    /// The latest removal of the stored tokens.
    var removal: Task<Void, any Error>?
  }

  private let method: Method
  private let state = Lock(State())
  let owner = TokenOwner()

  init(_ method: Method) { self.method = method }

  var forgetCount: Int { owner.forgetCount }

  func source(for request: HTTPRequest) -> any CredentialSource {
    let key = method.tokenKey(for: request)
    return state.withLock { state in
      if let source = state.sources[key] { return source }
      let source = CredentialRegistry(method, owner, key: key, removal: state.removal)
      state.sources[key] = source
      return source
    }
  }

  func isAuthenticationFailure(_ response: HTTPResponse) -> Bool { method.isAuthenticationFailure(response) }

  // MARK: Forgetting

  func forget() async throws {
    if RefreshScope.isRemoval(of: owner) { return }  // already running
    if RefreshScope.contains(owner) {
      // A refresh called this method, so waiting for it would deadlock. The token that it returns is kept.
      forgetTokens()
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
    let removal = state.withLock { state in
      let removal = Task { [self, earlier = state.removal] in try await remove(after: running, earlier) }
      state.removal = removal
      // Atomically: the removal waits for earlier refreshes, and later refreshes wait for the removal.
      for source in state.sources.values {
        if let refresh = source.forget(until: removal) { refreshes.yield(refresh) }
      }
      return removal
    }
    refreshes.finish()
    owner.noteForgotten()
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
    // A call made in the meantime may have used an old token. Its cached responses must not belong to the next account.
    forgetTokens()
    try await remove()
  }

  private func forgetTokens() {
    for source in state.withLock({ Array($0.sources.values) }) { source.forget() }
    owner.noteForgotten()
  }

  private func remove() async throws { try await RefreshScope.adding(owner, .removal) { try await method.forget() } }
}
