public import ErrandFoundation

extension OAuth2 {
  /// A way to get the first token.
  public struct Grant: Sendable, CustomStringConvertible {
    enum Kind: Sendable {
      case clientCredentials
      case password(Credential)
      case refreshToken(String)
      case code(String, redirectURL: URL?, verifier: String?)
      case device(URL, @Sendable (DevicePrompt) async throws -> Void)
    }

    let kind: Kind

    /// Uses the client's own credentials (RFC 6749 §4.4).
    public static let clientCredentials = Grant(kind: .clientCredentials)

    /// Uses a user name and password (RFC 6749 §4.3). Removed in OAuth 2.1: use it only if the server supports no other
    /// grant.
    public static func password(user: String, password: String) -> Grant {
      Grant(kind: .password(Credential(user: user, password: password)))
    }

    /// Uses a refresh token that the app already has (RFC 6749 §6). If the store has a newer refresh token that was
    /// obtained with this one, the newer one is used.
    public static func refreshToken(_ token: String) -> Grant { Grant(kind: .refreshToken(token)) }

    /// Uses a code from the user's sign-in in a browser (RFC 6749 §4.1). The code is sent once, even if the store has a
    /// token from another sign-in. After a restart, the stored token that was issued for the code is used.
    ///
    /// - Parameters:
    ///   - code: The code from the redirect.
    ///   - redirectURL: The redirect URL of the authorization request, or `nil` if the request had none.
    ///   - pkce: The PKCE value whose challenge was sent in the authorization request (RFC 7636).
    public static func authorizationCode(_ code: String, redirectURL: URL? = nil, pkce: PKCE? = nil) -> Grant {
      Grant(kind: .code(code, redirectURL: redirectURL, verifier: pkce?.verifier))
    }

    /// Uses a code that the user enters on another device (RFC 8628).
    ///
    /// - Parameters:
    ///   - url: The device authorization endpoint.
    ///   - show: Shows the code and the page to the user. When this closure returns, Errand polls for the token until
    ///     the user has signed in or the code expires.
    public static func deviceCode(
      at url: URL, _ show: @escaping @Sendable (_ prompt: DevicePrompt) async throws -> Void
    ) -> Grant {
      Grant(kind: .device(url, show))
    }

    /// The name of the grant.
    public var description: String {
      switch kind {
      case .clientCredentials: "client credentials"
      case .password: "password"
      case .refreshToken: "refresh token"
      case .code: "authorization code"
      case .device: "device code"
      }
    }
  }

  /// A device code for the user (RFC 8628 §3.2).
  public struct DevicePrompt: Sendable, Hashable {
    /// The code that the user enters.
    public let userCode: String
    /// The page where the user enters the code.
    public let verificationURL: URL
    /// The page with the code already filled in, for example for a QR code. `nil` if the server didn't send one.
    public let completeURL: URL?
    /// The time until the code expires.
    public let lifetime: Duration
  }

  /// Proves that the client that redeems a code is the one that requested it (RFC 7636).
  ///
  ///     let pkce = OAuth2.PKCE()
  ///     let url = signIn.authorizationURL(authorizationURL, redirectURL: redirect, state: state, pkce: pkce)
  ///     // After the browser returns with a code:
  ///     signIn.grant = .authorizationCode(code, redirectURL: redirect, pkce: pkce)
  public struct PKCE: Sendable, Hashable, CustomStringConvertible {
    /// The secret, sent with the token request.
    public let verifier: String

    /// Creates a random secret of 64 characters.
    public init() { self.init(verifier: CallRandom.system.key() + CallRandom.system.key()) }

    /// Restores a stored secret, which must consist of 43 to 128 letters, digits and `-._~` (RFC 7636 §4.1).
    public init(verifier: String) { self.verifier = verifier }

    /// The hash of the secret, sent with the authorization request (RFC 7636 §4.2, method S256).
    public var challenge: String {
      Data(SHA256.hash(Array(verifier.utf8))).base64EncodedString().replacing("+", with: "-")
        .replacing("/", with: "_").replacing("=", with: "")
    }

    /// A description without secrets.
    public var description: String { "PKCE(<redacted>)" }
  }

  /// Returns the URL of the sign-in page, to be opened in a browser (RFC 6749 §4.1.1).
  ///
  /// - Parameters:
  ///   - endpoint: The authorization endpoint.
  ///   - redirectURL: The URL to which the browser is redirected after the sign-in.
  ///   - state: A new random value for each sign-in. Check that the redirect returns the same value.
  ///   - pkce: The PKCE value. Pass the same value to the grant.
  /// - Throws: ``TaskError`` with code `.badURL` if the result is not a valid URL.
  public func authorizationURL(
    _ endpoint: URL, redirectURL: URL, state: String, pkce: PKCE
  ) throws -> URL {
    var query: HTTPQuery = [
      "response_type": "code", "client_id": client.id, "redirect_uri": redirectURL.absoluteString, "state": state,
      "code_challenge": pkce.challenge, "code_challenge_method": "S256",
    ]
    if !scopes.isEmpty { query.add("scope", scopes.joined(separator: " ")) }
    for item in parameters.items { query.add(item.name, item.value) }
    let base = endpoint.absoluteString
    guard let url = URL(string: base + (base.contains("?") ? "&" : "?") + query.encoded) else {
      throw TaskError(
        .badURL,
        "can't add a query to the authorization endpoint '\(Redaction.standard(endpoint).shortened)': check its URL",
        phase: .preparing
      )
    }
    return url
  }
}

extension OAuth2.DevicePrompt {
  /// Throws ``TaskError`` with code `.authenticationFailed` if the server at `url` returned a page that the user must
  /// not open.
  func check(from url: URL) throws {
    for page in [verificationURL, completeURL].compactMap({ $0 }) {
      do {
        _ = try LinkedURL(page, from: [url])
      } catch {
        throw TaskError(
          .authenticationFailed,
          "the sign-in page '\(Redaction.standard(page).shortened)' is not shown: \(error.reason)",
          phase: .authenticating)
      }
    }
  }
}
