import ErrandFoundation

/// How requests are authenticated: not at all, by one authenticator, or by several for different origins and paths.
///
///     await shop.update { $0.authentication = .bearer(token) }
///     try await GetWidget(id: 7).authenticated(.basic(user: "ann", password: password)).download()
///     await shop.update {
///       $0.authentication = [.bearer(admin).forPaths(below: "/admin"), .bearer { try await tokens.current() }]
///     }
///
/// A server's authentication applies to requests to the origin of its remote and to its
/// ``ServerConfiguration/trustedOrigins``, unless you limit it with ``forOrigins(_:)``. It does not replace header
/// fields set by the task or a hook. A task's authentication applies to its requests at any origin, and replaces these
/// header fields. If several rules match, the first one is used.
///
/// Create a value once and keep it. Copies share one token, but a new value has its own.
public struct Authentication: Sendable {
  private struct Rule: Sendable {
    var source: any CredentialSource
    /// The origins that the rule is limited to, or `nil` for all trusted origins.
    var origins: Set<Origin>?
    var includesPath: (@Sendable (String) -> Bool)?
    var account: String
    var isNamed = false

    /// The account of the current token. Forgetting the token starts a new account, unless the app named the account.
    var presentAccount: String {
      let count = isNamed ? 0 : source.forgetCount
      return count == 0 ? account : "\(account) \(count)"
    }
  }

  /// The rules, or `nil` to inherit the server's rules.
  private var rules: [Rule]?

  private init(rules: [Rule]?) { self.rules = rules }

  /// Uses the server's authentication.
  public static let inherited = Authentication(rules: nil)

  /// Sends requests without authentication.
  public static let none = Authentication(rules: [])

  var isInherited: Bool { rules == nil }

  /// Whether requests are sent without authentication.
  public var isNone: Bool { rules?.isEmpty ?? false }
}

// MARK: Ways

extension Authentication {
  /// Sends a user name and a password with every request (RFC 7617). A 401 response is returned as is, because there is
  /// no token to refresh.
  public static func basic(user: String, password: String) -> Authentication {
    let credential = Credential(user: user, password: password)
    // Salt the hash. Otherwise, the password could be guessed from a stored hash.
    let account = String.hashed("\(user.utf8.count):\(user)\(password)", salt: .processSalt)
    return Authentication(BasicAuthenticator(credential: credential), account: account)
  }

  /// Sends a fixed token with every request (RFC 6750). A 401 response is returned as is, because the token can't be
  /// refreshed.
  public static func bearer(_ token: String) -> Authentication {
    Authentication(BearerAuthenticator(token), account: .hashed(token, salt: ""))
  }

  /// Sends the token that `provide` returns. `provide` is called before the first request and again after a 401
  /// response, once for all waiting calls.
  public static func bearer(_ provide: @escaping @Sendable () async throws -> String) -> Authentication {
    Authentication(BearerAuthenticator(provide), account: .unique())
  }

  /// Uses your own authenticator.
  public static func custom(_ authenticator: some Authenticator) -> Authentication {
    Authentication(authenticator, account: .unique())
  }

  init(_ authenticator: some Authenticator, account: String) {
    self.init(rules: [Rule(source: CredentialRegistry(authenticator), account: account)])
  }
}

// MARK: Places

extension Authentication {
  /// Limits the authentication to the given origins, such as `https://api.example.com`. Invalid origins match nothing.
  public func forOrigins(_ origins: String...) -> Authentication {
    let origins = Set(origins.compactMap { URL(string: $0).flatMap { Origin($0) } })
    return changed { $0.origins = origins }
  }

  /// Limits the authentication to paths for which `includes` returns `true`. The path is percent-encoded and has no
  /// query.
  public func forPaths(_ includes: @escaping @Sendable (_ path: String) -> Bool) -> Authentication {
    changed { $0.includesPath = includes }
  }

  /// Limits the authentication to a path and the paths below it: `/admin` matches `/admin` and `/admin/users`, but not
  /// `/administration`.
  public func forPaths(below prefix: String) -> Authentication {
    let folder = prefix.hasSuffix("/") ? prefix : prefix + "/"
    return forPaths { $0.hasPrefix(folder) || $0 + "/" == folder }
  }

  /// Names the account. The cache stores responses separately for each account. Use the same name after a restart to
  /// find cached responses again. Without a name, they are only found by this process or with the same token.
  public func forAccount(_ name: String) -> Authentication {
    changed { ($0.account, $0.isNamed) = ("account \(name)", true) }
  }

  /// Returns these rules followed by the rules of `others`.
  public func adding(_ others: Authentication) -> Authentication {
    Authentication(rules: (rules ?? []) + (others.rules ?? []))
  }

  private func changed(_ change: (inout Rule) -> Void) -> Authentication {
    Authentication(
      rules: rules?.map { rule in
        var rule = rule
        change(&rule)
        return rule
      })
  }

  /// Forgets all tokens, including those in a ``SecretStore``. The next request gets a new token, or is sent without a
  /// token.
  ///
  /// Cancels a running refresh and waits until it ends. A refresh can also call this method: the previous token is
  /// forgotten, and the token that the refresh returns is used.
  /// Throws an error if a token can't be removed.
  public func forget() async throws {
    for rule in rules ?? [] { try await rule.source.forget() }
  }

  /// The rules, except those that this Swift task is refreshing or forgetting. Otherwise, the requests of a refresh
  /// would wait for that refresh.
  var outsideOfRefreshes: Authentication {
    guard let rules, rules.contains(where: { RefreshScope.contains($0.source) }) else { return self }
    return Authentication(rules: rules.filter { !RefreshScope.contains($0.source) })
  }

  /// Returns the source that authenticates requests for `url`, and its account. Returns `nil` if no rule matches.
  func source(for url: URL, isTrusted: (URL) -> Bool) -> (source: any CredentialSource, account: String)? {
    let rule = (rules ?? []).first { rule in
      if let origins = rule.origins {
        guard let origin = Origin(url), origins.contains(origin) else { return false }
      } else if !isTrusted(url) {
        return false
      }
      return rule.includesPath?(url.path(percentEncoded: true)) ?? true
    }
    return rule.map { ($0.source, $0.presentAccount) }
  }
}

extension Authentication: ExpressibleByArrayLiteral {
  /// Combines the elements. The first one that matches a request is used.
  public init(arrayLiteral elements: Authentication...) {
    self = elements.reduce(.none) { $0.adding($1) }
  }
}

extension Authentication: CustomStringConvertible {
  /// A description without secrets.
  public var description: String {
    isInherited ? "Authentication.inherited" : "Authentication(\(rules?.count ?? 0))"
  }
}

extension String {
  fileprivate static let processSalt = CallRandom.system.key()

  fileprivate static func hashed(_ secret: String, salt: String) -> String {
    "secret " + Data(SHA256.hash(Array((salt + secret).utf8))).base64EncodedString()
  }

  static func unique() -> String { "object " + CallRandom.system.key() }
}
