import ErrandFoundation

/// How requests are authenticated: not at all, by one authenticator, or by several.
///
///     await shop.update { $0.authentication = .bearer(token) }
///     try await GetWidget(id: 7).authenticated(.basic(user: "ann", password: password)).send()
///     await shop.update { $0.authentication = .all([.apiKey(key, header: "X-API-Key"), .bearer(token)]) }
///     await shop.update {
///       $0.authentication = .firstMatching([.bearer(admin).forPaths(below: "/admin"), .bearer(token)])
///     }
///
/// A server's authentication applies to requests to the origin of its remote and to its
/// ``ServerConfiguration/trustedOrigins``, unless you limit it with ``forOrigins(_:)``. It does not replace header
/// fields set by the task or a hook. A task's authentication applies to its requests at any origin and replaces these
/// header fields.
///
/// Create a value once and keep it. Copies share one token, but a new value has its own.
public struct Authentication: Sendable {
  indirect enum Form: Sendable {
    case inherited
    case rule(AuthenticationRule)
    case firstMatching([Form])
    case all([Form])
  }

  let form: Form

  private init(_ form: Form) { self.form = form }

  /// Uses the server's authentication.
  public static let inherited = Authentication(.inherited)

  /// Sends requests without authentication.
  public static let none = Authentication(.all([]))

  var isInherited: Bool { if case .inherited = form { true } else { false } }

  /// Whether requests are sent without authentication.
  public var isNone: Bool { form.isNone }
}

// MARK: Ways

extension Authentication {
  /// Sends a user name and a password with every request (RFC 7617). A 401 response is returned as is, because there is
  /// no token to refresh.
  public static func basic(user: String, password: String) -> Authentication {
    let credential = Credential(user: user, password: password)
    return Authentication(BasicAuthenticator(credential: credential), account: .hashed(credential, for: "basic"))
  }

  /// Answers the server's Digest challenges (RFC 7616) with a user name and a password. A 401 response to an answer is
  /// returned as is.
  public static func digest(user: String, password: String) -> Authentication {
    let credential = Credential(user: user, password: password)
    return Authentication(DigestAuthenticator(credential: credential), account: .hashed(credential, for: "digest"))
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

  /// Sends a key in a header field with every request. A 401 response is returned as is.
  public static func apiKey(_ key: String, header: HTTPHeaderName) -> Authentication {
    Authentication(
      KeyAuthenticator(key: key, header: header), account: .hashed("\(header.rawName.lowercased()):\(key)", salt: ""))
  }

  /// Uses your own authenticator.
  public static func custom(_ authenticator: some Authenticator) -> Authentication {
    Authentication(authenticator, account: .unique())
  }

  init(_ authenticator: some Authenticator, account: String) {
    self.init(.rule(AuthenticationRule(AuthenticatorCredentials(authenticator), account: account)))
  }
}

// MARK: Combinations

extension Authentication {
  /// Applies every element that matches a request, in order.
  ///
  /// Each element refreshes its own token after a response that rejects it. If two elements set the same header field,
  /// the last one is used.
  public static func all(_ elements: [Authentication]) -> Authentication {
    Authentication(.all(elements.map(\.form)))
  }

  /// Applies only the first element that matches a request's origin and path.
  public static func firstMatching(_ elements: [Authentication]) -> Authentication {
    Authentication(.firstMatching(elements.map(\.form)))
  }
}

// MARK: Places

extension Authentication {
  /// Limits the authentication to the given origins, such as `https://api.example.com`. Invalid origins match nothing.
  public func forOrigins(_ origins: String...) -> Authentication {
    let origins = Set(origins.compactMap { URL(string: $0).flatMap { Origin($0) } })
    return changed { $0.limited(to: origins) }
  }

  /// Limits the authentication to paths for which `includes` returns `true`. The path is percent-encoded and has no
  /// query.
  public func forPaths(_ includes: @escaping @Sendable (_ path: String) -> Bool) -> Authentication {
    changed { $0.limited(toPaths: includes) }
  }

  /// Limits the authentication to a path and the paths below it: `/admin` matches `/admin` and `/admin/users`, but not
  /// `/administration`.
  public func forPaths(below prefix: String) -> Authentication {
    let folder = prefix.hasSuffix("/") ? prefix : prefix + "/"
    return forPaths { $0.hasPrefix(folder) || $0 + "/" == folder }
  }

  /// Names the account. The cache stores responses separately for each account, and for each
  /// ``Authenticator/tokenKey(for:)``. Use the same name after a restart to find cached responses again. Without a
  /// name, they are only found by this process or with the same token.
  public func forAccount(_ name: String) -> Authentication { changed { $0.named(name) } }

  private func changed(_ change: (AuthenticationRule) -> AuthenticationRule) -> Authentication {
    Authentication(form.replacing { .rule(change($0)) })
  }
}

// MARK: Use

extension Authentication {
  /// Forgets all tokens, including those in a ``SecretStore``. The next call gets a new token, or is sent without a
  /// token.
  ///
  /// A call that began earlier doesn't get the new token, which may belong to another user. If its request is sent
  /// later or again, such as for a retry, the call fails with ``TaskError`` code `.authenticationFailed`. If its
  /// response arrives later, the response is not stored.
  ///
  /// Cancels a running refresh and waits until it ends. A refresh can also call this method: the previous token is
  /// forgotten, and running calls use the token that the refresh returns.
  /// Throws an error if a token can't be removed from its store. All other tokens are still forgotten.
  public func forget() async throws {
    var failure: (any Error)?
    for rule in form.rules {
      do { try await rule.credentials.forget() } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }

  /// Only the rules of the server's configuration.
  var serversOnly: Authentication {
    Authentication(form.replacing { $0.isServers ? .rule($0) : .all([]) })
  }

  /// The authentication as part of a server's configuration.
  var ofServer: Authentication { changed(\.ofServer) }

  /// Returns the authentication with each ``inherited`` replaced by `inherited`.
  func inheriting(_ inherited: Authentication) -> Authentication {
    Authentication(form.replacing(inherited: inherited.form) { .rule($0) })
  }

  /// The authentication of a call that begins now. `nil` if its requests are not authenticated.
  var ofCall: CallAuthentication? {
    if isNone { return nil }
    // Without rules that this Swift task is refreshing or forgetting: a refresh's requests would wait for that refresh.
    let rest = form.replacing { RefreshScope.contains($0.credentials.owner) ? .all([]) : .rule($0.ofCall) }
    return rest.isNone ? nil : CallAuthentication(settings: Authentication(rest))
  }
}

extension Authentication.Form {
  var isNone: Bool {
    switch self {
    case .inherited, .rule: false
    case .firstMatching(let forms), .all(let forms): forms.allSatisfy(\.isNone)
    }
  }

  var rules: [AuthenticationRule] {
    switch self {
    case .inherited: []
    case .rule(let rule): [rule]
    case .firstMatching(let forms), .all(let forms): forms.flatMap(\.rules)
    }
  }

  func rules(for url: URL, _ isTrusted: (URL) -> Bool) -> [AuthenticationRule] {
    switch self {
    case .inherited: []
    case .rule(let rule): rule.matches(url, isTrusted: isTrusted) ? [rule] : []
    case .firstMatching(let forms): forms.map { $0.rules(for: url, isTrusted) }.first { !$0.isEmpty } ?? []
    case .all(let forms): forms.flatMap { $0.rules(for: url, isTrusted) }
    }
  }

  func replacing(inherited: Self = .inherited, _ change: (AuthenticationRule) -> Self) -> Self {
    switch self {
    case .inherited: inherited
    case .rule(let rule): change(rule)
    case .firstMatching(let forms): .firstMatching(forms.map { $0.replacing(inherited: inherited, change) })
    case .all(let forms): .all(forms.map { $0.replacing(inherited: inherited, change) })
    }
  }
}

extension Authentication: CustomStringConvertible {
  /// A description without secrets.
  public var description: String {
    isInherited ? "Authentication.inherited" : "Authentication(\(form.rules.count))"
  }
}

extension String {
  private static let processSalt = CallRandom.system.key()

  fileprivate static func hashed(_ credential: Credential, for scheme: String) -> String {
    // Salt the hash. Otherwise, the password could be guessed from a stored hash.
    hashed("\(scheme) \(credential.user.utf8.count):\(credential.user)\(credential.password)", salt: processSalt)
  }

  fileprivate static func hashed(_ secret: String, salt: String) -> String {
    "secret " + Data(SHA256.hash(Array((salt + secret).utf8))).base64EncodedString()
  }

  static func unique() -> String { "object " + CallRandom.system.key() }
}
