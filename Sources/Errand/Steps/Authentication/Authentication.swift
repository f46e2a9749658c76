import ErrandFoundation

/// The way in which requests are signed in: none, one authenticator, or several for different places.
///
///     await shop.update { $0.authentication = .bearer(token) }
///     try await GetWidget(id: 7).authenticated(.basic(user: "ann", password: password)).download()
///     await shop.update {
///       $0.authentication = [.bearer(admin).forPaths(below: "/admin"), .bearer { try await tokens.current() }]
///     }
///
/// Of a server, it signs in what goes to the origin of its remote and to its ``ServerConfiguration/trustedOrigins``, unless
/// it names origins itself; fields that the task or a hook has set stay. Of a task, it signs in the request wherever that
/// goes, and its fields override others. Where several fit, the first does.
///
/// Make it once and keep it: a copy shares the token with the original, another one has a token of its own.
public struct Authentication: Sendable {
  private struct Rule: Sendable {
    var source: any CredentialSource
    /// Nil is everywhere that the owner's credentials may go.
    var origins: Set<Origin>?
    var includesPath: (@Sendable (String) -> Bool)?
    var account: String
    /// True where the app has named the account.
    var isNamed = false

    /// The account of the present token: another one once that was forgotten, where no name says that it is the same.
    var presentAccount: String {
      let count = isNamed ? 0 : source.forgetCount
      return count == 0 ? account : "\(account) \(count)"
    }
  }

  /// Nil is as the server says.
  private var rules: [Rule]?

  private init(rules: [Rule]?) { self.rules = rules }

  /// As the server says.
  public static let inherited = Authentication(rules: nil)

  /// Nothing signs requests in.
  public static let none = Authentication(rules: [])

  var isInherited: Bool { rules == nil }

  /// True when nothing signs requests in.
  public var isNone: Bool { rules?.isEmpty ?? false }
}

// MARK: Ways

extension Authentication {
  /// A user and a password in every request (RFC 7617). A 401 is the answer: there is nothing to refresh.
  public static func basic(user: String, password: String) -> Authentication {
    let credential = Credential(user: user, password: password)
    // A password can be guessed: what is kept beyond this process does not help with that.
    let account = String.hashed("\(user.utf8.count):\(user)\(password)", salt: .processSalt)
    return Authentication(BasicAuthenticator(credential: credential), account: account)
  }

  /// A token in every request (RFC 6750). A 401 is the answer: there is nothing to refresh.
  public static func bearer(_ token: String) -> Authentication {
    Authentication(BearerAuthenticator(token), account: .hashed(token, salt: ""))
  }

  /// A token that `provide` gives: asked for at the first request, and again after a 401, once for all calls that wait.
  public static func bearer(_ provide: @escaping @Sendable () async throws -> String) -> Authentication {
    Authentication(BearerAuthenticator(provide), account: .unique())
  }

  /// An authenticator of one's own.
  public static func custom(_ authenticator: some Authenticator) -> Authentication {
    Authentication(authenticator, account: .unique())
  }

  init(_ authenticator: some Authenticator, account: String) {
    self.init(rules: [Rule(source: CredentialRegistry(authenticator), account: account)])
  }
}

// MARK: Places

extension Authentication {
  /// The same for these origins only, such as `https://api.example.com`. An entry that is no origin matches nothing.
  public func forOrigins(_ origins: String...) -> Authentication {
    let origins = Set(origins.compactMap { URL(string: $0).flatMap { Origin($0) } })
    return changed { $0.origins = origins }
  }

  /// The same for the paths that `includes` is true for. It gets them as they are sent, escapes and all, without the query.
  public func forPaths(_ includes: @escaping @Sendable (_ path: String) -> Bool) -> Authentication {
    changed { $0.includesPath = includes }
  }

  /// The same for a path and those below it: `/admin` is for `/admin` and `/admin/users`, and not for `/administration`.
  public func forPaths(below prefix: String) -> Authentication {
    let folder = prefix.hasSuffix("/") ? prefix : prefix + "/"
    return forPaths { $0.hasPrefix(folder) || $0 + "/" == folder }
  }

  /// Names the account. Cached responses are stored per account: the same name finds them again after a restart. Without a name they are
  /// found only by this process, or with the same token.
  public func forAccount(_ name: String) -> Authentication {
    changed { ($0.account, $0.isNamed) = ("account \(name)", true) }
  }

  /// These and then those of `others`.
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

  /// Forgets all tokens, those in a ``SecretStore`` too: the next request gets a new one, or is not signed in.
  ///
  /// A refresh that is under way is cancelled first, and waited for. A refresh may call this itself: that forgets the token that
  /// there was, and the one that it then gives is a new one.
  /// Throws what keeps a token from being forgotten.
  public func forget() async throws {
    for rule in rules ?? [] { try await rule.source.forget() }
  }

  /// Those whose refresh or removal the surrounding Swift task is no part of: what that sends is not signed in by them, for it
  /// would wait for itself.
  var outsideOfRefreshes: Authentication {
    guard let rules, rules.contains(where: { RefreshScope.contains($0.source) }) else { return self }
    return Authentication(rules: rules.filter { !RefreshScope.contains($0.source) })
  }

  /// The source that signs a request for `url` in, and the account that it signs in to; nil where there is none.
  func source(for url: URL, isHome: (URL) -> Bool) -> (source: any CredentialSource, account: String)? {
    let rule = (rules ?? []).first { rule in
      if let origins = rule.origins {
        guard let origin = Origin(url), origins.contains(origin) else { return false }
      } else if !isHome(url) {
        return false
      }
      return rule.includesPath?(url.path(percentEncoded: true)) ?? true
    }
    return rule.map { ($0.source, $0.presentAccount) }
  }
}

extension Authentication: ExpressibleByArrayLiteral {
  /// The given ones, the first that fits before the others.
  public init(arrayLiteral elements: Authentication...) {
    self = elements.reduce(.none) { $0.adding($1) }
  }
}

extension Authentication: CustomStringConvertible {
  /// Nothing that is secret.
  public var description: String {
    isInherited ? "Authentication.inherited" : "Authentication(\(rules?.count ?? 0))"
  }
}

extension String {
  /// The salt of this process.
  fileprivate static let processSalt = CallRandom.system.key()

  /// An account that is the same for the same secret.
  fileprivate static func hashed(_ secret: String, salt: String) -> String {
    "secret " + Data(SHA256.hash(Array((salt + secret).utf8))).base64EncodedString()
  }

  /// A unique account name.
  static func unique() -> String { "object " + CallRandom.system.key() }
}
