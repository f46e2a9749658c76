import ErrandFoundation

/// An authenticator, and the requests that it applies to.
struct AuthenticationRule: Sendable {
  let credentials: any Credentials
  /// The tokens that were current when the call began. `nil` in the settings of servers and tasks.
  private var begun: (any Tokens)?
  /// The origins that the rule is limited to. `nil` for all origins, or for trusted ones if the rule is the server's.
  private var origins: Set<Origin>?
  private var includesPath: (@Sendable (String) -> Bool)?
  private var account: String
  private var isNamed = false
  /// Whether the rule belongs to the server's configuration, not to a task.
  private(set) var isServers = false

  init(_ credentials: any Credentials, account: String) {
    self.credentials = credentials
    self.account = account
  }

  /// Returns the source of a request's token.
  func source(for request: HTTPRequest) -> any CredentialSource {
    (begun ?? credentials.tokens).source(for: request)
  }

  /// Returns the name of a source's account. Each key of the authenticator has its own account. Forgetting the token
  /// starts a new account, unless the app named the account.
  func account(of source: any CredentialSource) -> String {
    let count = isNamed ? 0 : source.forgetCount
    let name = count == 0 ? account : "\(account) \(count)"
    // The length separates the parts, because they can contain any character.
    return source.key.isEmpty ? name : "key \(name.utf8.count):\(name)\(source.key)"
  }

  func matches(_ url: URL, isTrusted: (URL) -> Bool) -> Bool {
    if let origins {
      guard let origin = Origin(url), origins.contains(origin) else { return false }
    } else if isServers, !isTrusted(url) {
      return false
    }
    return includesPath?(url.path(percentEncoded: true)) ?? true
  }

  // MARK: Changes

  func limited(to origins: Set<Origin>) -> AuthenticationRule {
    changed { $0.origins = $0.origins?.intersection(origins) ?? origins }
  }

  func limited(toPaths includes: @escaping @Sendable (String) -> Bool) -> AuthenticationRule {
    changed { $0.includesPath = { [before = $0.includesPath] in before?($0) != false && includes($0) } }
  }

  func named(_ name: String) -> AuthenticationRule { changed { ($0.account, $0.isNamed) = ("account \(name)", true) } }

  /// The rule of a call that begins now. It keeps the current tokens.
  var ofCall: AuthenticationRule { changed { $0.begun = begun ?? credentials.tokens } }

  var ofServer: AuthenticationRule { changed { $0.isServers = true } }

  private func changed(_ change: (inout AuthenticationRule) -> Void) -> AuthenticationRule {
    var rule = self
    change(&rule)
    return rule
  }
}
