import ErrandFoundation

/// An authenticator, and the requests that it applies to.
struct AuthenticationRule: Sendable {
  let credentials: any Credentials
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

  /// The account of the current token. Forgetting the token starts a new account, unless the app named the account.
  private var presentAccount: String {
    let count = isNamed ? 0 : credentials.forgetCount
    return count == 0 ? account : "\(account) \(count)"
  }

  /// Returns the account of requests that `rules` authenticate. `nil` if `rules` is empty.
  static func account(of rules: [AuthenticationRule]) -> String? {
    let accounts = rules.map(\.presentAccount)
    // The lengths separate the accounts, because their names can contain any character.
    return accounts.count < 2 ? accounts.first : accounts.map { "\($0.utf8.count):\($0)" }.joined()
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

  var ofServer: AuthenticationRule { changed { $0.isServers = true } }

  private func changed(_ change: (inout AuthenticationRule) -> Void) -> AuthenticationRule {
    var rule = self
    change(&rule)
    return rule
  }
}
