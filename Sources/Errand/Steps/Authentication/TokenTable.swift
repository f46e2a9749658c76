/// The tokens of an authenticator between two sign-outs.
protocol Tokens: Sendable, AnyObject {
  /// Returns the source for a request. Requests that use the same token get the same source.
  func source(for request: HTTPRequest) -> any CredentialSource
}

/// Keeps the tokens of an authenticator between two sign-outs, by ``Authenticator/tokenKey(for:)``.
final class TokenTable<Method: Authenticator>: Tokens {
  private struct State {
    var sources: [String: CredentialRegistry<Method>] = [:]
    var forgetCount: Int
    var isClosed = false
  }

  private let method: Method
  private let owner: TokenOwner
  private let state: Lock<State>
  /// The removal of the stored tokens that ended the table before this one. Refreshes wait for it. It can't wait for them,
  /// because it is older.
  let removal: Task<Void, any Error>?

  init(_ method: Method, _ owner: TokenOwner, forgetCount: Int = 0, removal: Task<Void, any Error>? = nil) {
    self.method = method
    self.owner = owner
    self.removal = removal
    state = Lock(State(forgetCount: forgetCount))
  }

  func source(for request: HTTPRequest) -> any CredentialSource {
    let key = method.tokenKey(for: request)
    return state.withLock { state in
      if let source = state.sources[key] { return source }
      let source = CredentialRegistry(
        method, owner, key: key, forgetCount: state.forgetCount, removal: removal)
      if state.isClosed { source.close() }
      state.sources[key] = source
      return source
    }
  }

  // MARK: Forgetting

  /// Forgets the tokens. Calls that use this table get new ones.
  func forget() {
    state.withLock { state in
      state.forgetCount += 1
      for source in state.sources.values { source.forget() }
    }
  }

  /// Forgets the tokens, so that calls that use this table fail. Returns the table for later calls, whose refreshes wait
  /// for `removal`, and the refreshes that may still be running.
  func ended(until removal: Task<Void, any Error>) -> (next: TokenTable, refreshes: [Task<Void, Never>]) {
    state.withLock { state in
      state.isClosed = true
      let refreshes = state.sources.values.compactMap { $0.close() }
      return (TokenTable(method, owner, forgetCount: state.forgetCount + 1, removal: removal), refreshes)
    }
  }
}
