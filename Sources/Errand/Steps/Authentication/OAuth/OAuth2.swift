public import ErrandFoundation

/// A client of an authorization server: where its tokens come from, how, and where they are kept (RFC 6749).
///
///     var signIn = OAuth2(
///       tokenURL: tokenURL, client: .init(id: "warehouse", secret: secret), grant: .clientCredentials)
///     signIn.scopes = ["widgets:read"]
///     await shop.update { $0.authentication = .oauth2(signIn) }
///
/// The token is got at the first request, kept in memory or in ``store``, and replaced shortly before it ends and after a 401: once for
/// all calls that wait. With a refresh token that is how; with rotation, each is sent once, and the new one is stored before
/// the access token is used. Nothing of the server's hooks, steps and header fields goes with a token request.
public struct OAuth2: Sendable {
  /// The token endpoint.
  public var tokenURL: URL
  /// The client, as the authorization server knows it.
  public var client: Client
  /// The way to the first token, and to another where no refresh token is left.
  public var grant: Grant
  /// The scopes to request; none unless set.
  public var scopes: [String] = []
  /// Further parameters of every token request, such as `audience` or `resource`.
  public var parameters: HTTPQuery = [:]
  /// Header fields of every token request.
  public var headers: HTTPHeaders = [:]
  /// The time before its end at which a token is replaced, but never more than half of its life. A minute unless set.
  public var leeway: Duration = .seconds(60)
  /// The place where the token is kept; nil unless set: the memory of the one ``Authentication`` that is made of this.
  public var store: (any SecretStore)?
  /// The name of the token in the store. Made of the client, the token endpoint, ``scopes``, ``parameters`` and the user of a
  /// password unless set: another name finds no token, and a new one is got. Give one for each user.
  public var storeName: String?
  /// Makes the request for a token, where a server wants another than RFC 6749 has; nil is that one.
  public var tokenRequest: (@Sendable (_ exchange: Exchange) throws -> HTTPRequest)?
  /// Reads a token from a response, where a server gives another than RFC 6749 §5.1 has; nil reads that.
  public var tokenParser: (@Sendable (_ response: HTTPResponse, _ body: Data, _ now: Date) throws -> AccessToken)?

  /// A client that gets tokens at `tokenURL` by a grant.
  public init(tokenURL: URL, client: Client, grant: Grant) {
    self.tokenURL = tokenURL
    self.client = client
    self.grant = grant
  }

  /// The name under which the token is stored. Parameters may be secret, and users are nobody's business: it has their hash.
  var secretName: String {
    if let storeName { return storeName }
    let lists = [
      [client.id, tokenURL.absoluteString, account], scopes.sorted(),
      parameters.items.map { "\($0.name.utf8.count) \($0.name)=\($0.value ?? "")" }.sorted(),
    ]
    let text = lists.map { list in "\(list.count) " + list.map { "\($0.utf8.count) \($0)" }.joined() }.joined()
    return "oauth2 \(client.id) \(SHA256.hexadecimal(of: text))"
  }

  /// The account that the grant gives a token for, as far as it says that.
  private var account: String {
    switch grant.kind {
    case .password(let credential): "user \(credential.user)"
    // RFC 6749 §4.4: one without a secret has none of its own. It is to be somebody's who signs in.
    case .clientCredentials: client.secret == nil ? "" : "client"
    case .refreshToken, .code, .device: ""
    }
  }
}

extension OAuth2 {
  /// A client of an authorization server (RFC 6749 §2).
  public struct Client: Sendable, CustomStringConvertible {
    /// The place of the credential in a token request (RFC 6749 §2.3.1).
    public enum Placement: Sendable, Hashable {
      /// In `Authorization`, as Basic. What every server has to understand.
      case header
      /// In the body, as `client_id` and `client_secret`.
      case body
    }

    /// The identifier.
    public let id: String
    /// The secret; nil for a public client, such as an app.
    public let secret: String?
    /// The place of the credential.
    public let placement: Placement

    /// A client by identifier and secret. Without a secret, `client_id` goes in the body.
    public init(id: String, secret: String? = nil, placement: Placement = .header) {
      self.id = id
      self.secret = secret
      self.placement = placement
    }

    /// The identifier.
    public var description: String { "Client(\(id))" }
  }

  /// A request for a token: what is sent to the token endpoint.
  public struct Exchange: Sendable {
    /// The token endpoint.
    public let url: URL
    /// The client.
    public let client: Client
    /// The grant and its parameters, without the client's own.
    public let parameters: HTTPQuery
    /// Header fields of ``OAuth2/headers``.
    public let headers: HTTPHeaders

    /// The value of `grant_type`.
    public var grantType: String { parameters.items.first { $0.name == "grant_type" }?.value ?? "" }
  }

  /// A refusal by an authorization server (RFC 6749 §5.2); the ``TaskError/underlying`` error of a failed sign-in.
  public struct Refusal: Error, Sendable, Hashable {
    /// The server's word for it, such as `invalid_grant`. What it repeats of the secrets that were sent is hidden.
    public let code: String
    /// The same for people; nil where the server gave none. What it repeats of the secrets that were sent is hidden.
    public let detail: String?
    /// The status of the response.
    public let status: HTTPStatus
    /// The media type in which it came.
    var type: MediaType?
    /// The body in which it came, secrets hidden.
    var body = Data()
  }
}

extension OAuth2: CustomStringConvertible {
  /// Client and token endpoint, nothing that is secret.
  public var description: String { "OAuth2(\(client.id) at \(Redaction.standard(tokenURL)))" }
}

extension Authentication {
  /// Tokens of OAuth 2. Make it once for a client and a user, and keep it: each has a token of its own.
  public static func oauth2(_ settings: OAuth2) -> Authentication {
    Authentication(OAuth2Authenticator(settings), account: .unique())
  }
}
