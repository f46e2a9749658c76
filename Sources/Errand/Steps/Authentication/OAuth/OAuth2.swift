public import ErrandFoundation

/// Settings for getting tokens from an OAuth 2 authorization server (RFC 6749).
///
///     var signIn = OAuth2(
///       tokenURL: tokenURL, client: .init(id: "warehouse", secret: secret), grant: .clientCredentials)
///     signIn.scopes = ["widgets:read"]
///     await shop.update { $0.authentication = .oauth2(signIn) }
///
/// The token is requested before the first call, kept in memory or in ``store``, and replaced shortly before it expires
/// and after a 401, once for all waiting calls. A refresh token is used if available. If the server rotates refresh
/// tokens, each one is sent once, and the new one is stored before the access token is used. Token requests don't use
/// the server's hooks, steps or header fields.
public struct OAuth2: Sendable {
  /// The token endpoint.
  public var tokenURL: URL
  /// The client registered with the authorization server.
  public var client: Client
  /// How to get the first token, and later tokens if no refresh token can be used.
  public var grant: Grant
  /// The scopes to request. Defaults to none.
  public var scopes: [String] = []
  /// Additional parameters for every token request, such as `audience` or `resource`.
  public var parameters: HTTPQuery = [:]
  /// Header fields for every token request.
  public var headers: HTTPHeaders = [:]
  /// How long before expiry a token is refreshed, limited to half of its lifetime. Defaults to one minute.
  public var leeway: Duration = .seconds(60)
  /// The store for the token. Defaults to `nil`, which keeps the token in the memory of the ``Authentication``.
  public var store: (any SecretStore)?
  /// The name of the token in the store. Defaults to a name derived from the client, the token endpoint, ``scopes``,
  /// ``parameters`` and the user of a password grant. If the name changes, the stored token is not found and a new
  /// token is requested. Use a different name for each user.
  public var storeName: String?
  /// Decides which failed token requests are retried. Defaults to the server's policy.
  ///
  ///     signIn.retryPolicy = .decided { failure in
  ///       failure.attempts.count < 5 ? .retry(after: failure.retryAfter ?? .seconds(1)) : .giveUp
  ///     }
  ///
  /// Client credentials can be resent after any failure. A password, code or refresh token is resent only if it was not
  /// sent, or if the server refused it with 429 or 503. Token requests are retried only while a call is
  /// waiting whose deadline allows it. A `Retry-After` above ``RetryPolicy/maximumDownloadDelay`` fails the token
  /// request.
  public var retryPolicy = RetryPolicy.inherited
  /// Creates the token request, for servers that do not follow RFC 6749. Defaults to `nil`.
  public var tokenRequest: (@Sendable (_ exchange: Exchange) throws -> HTTPRequest)?
  /// Reads the token from a response, for servers that do not follow RFC 6749 §5.1. Defaults to `nil`.
  public var tokenParser: (@Sendable (_ response: HTTPResponse, _ body: Data, _ now: Date) throws -> AccessToken)?

  /// Creates settings for a client that gets tokens from `tokenURL`.
  public init(tokenURL: URL, client: Client, grant: Grant) {
    self.tokenURL = tokenURL
    self.client = client
    self.grant = grant
  }

  /// The name of the token in the store. Parameters and user names are hashed because they can be secret.
  var secretName: String {
    if let storeName { return storeName }
    let lists = [
      [client.id, tokenURL.absoluteString, account], scopes.sorted(),
      parameters.items.map { "\($0.name.utf8.count) \($0.name)=\($0.value ?? "")" }.sorted(),
    ]
    let text = lists.map { list in "\(list.count) " + list.map { "\($0.utf8.count) \($0)" }.joined() }.joined()
    return "oauth2 \(client.id) \(SHA256.hexadecimal(of: text))"
  }

  private var account: String {
    switch grant.kind {
    case .password(let credential): "user \(credential.user)"
    // A public client has no credentials (RFC 6749 §4.4), so its token is treated as a user's token.
    case .clientCredentials: client.secret == nil ? "" : "client"
    case .refreshToken, .code, .device: ""
    }
  }
}

extension OAuth2 {
  /// A client of an authorization server (RFC 6749 §2).
  public struct Client: Sendable, CustomStringConvertible {
    /// The part of a token request that carries the client's credential (RFC 6749 §2.3.1).
    public enum Placement: Sendable, Hashable {
      /// In the `Authorization` field, as Basic credentials. Every server must support this.
      case header
      /// In the body, as `client_id` and `client_secret`.
      case body
    }

    /// The client identifier.
    public let id: String
    /// The client secret, or `nil` for a public client, such as an app.
    public let secret: String?
    /// The part of a token request that carries the client's credential.
    public let placement: Placement

    /// Creates a client. Without a secret, `client_id` is sent in the body.
    public init(id: String, secret: String? = nil, placement: Placement = .header) {
      self.id = id
      self.secret = secret
      self.placement = placement
    }

    /// A description that contains only the identifier.
    public var description: String { "Client(\(id))" }
  }

  /// The contents of a token request.
  public struct Exchange: Sendable {
    /// The token endpoint.
    public let url: URL
    /// The client.
    public let client: Client
    /// The grant and its parameters, without the client's credential.
    public let parameters: HTTPQuery
    /// The header fields from ``OAuth2/headers``.
    public let headers: HTTPHeaders

    /// The value of `grant_type`.
    public var grantType: String { parameters.items.first { $0.name == "grant_type" }?.value ?? "" }
  }

  /// An error response from an authorization server (RFC 6749 §5.2). After a failed sign-in, it is available in
  /// ``TaskError/underlying``.
  public struct Refusal: Error, Sendable, Hashable {
    /// The error code, such as `invalid_grant`. Secrets from the request are redacted.
    public let code: String
    /// The error description, or `nil` if the server didn't send one. Secrets from the request are redacted.
    public let detail: String?
    /// The status of the response.
    public let status: HTTPStatus
    var type: MediaType?
    /// The response body, with secrets redacted.
    var body = Data()
  }
}

extension OAuth2: CustomStringConvertible {
  /// A description with the client identifier and the token endpoint, without secrets.
  public var description: String { "OAuth2(\(client.id) at \(Redaction.standard(tokenURL)))" }
}

extension Authentication {
  /// Uses OAuth 2 tokens. Create one value for each client and user, and keep it: every value has its own token.
  public static func oauth2(_ settings: OAuth2) -> Authentication {
    Authentication(OAuth2Authenticator(settings), account: .unique())
  }
}
