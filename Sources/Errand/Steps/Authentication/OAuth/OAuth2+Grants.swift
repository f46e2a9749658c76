public import ErrandFoundation

extension OAuth2 {
  /// A way to a first token.
  public struct Grant: Sendable, CustomStringConvertible {
    enum Kind: Sendable {
      case clientCredentials
      case password(Credential)
      case refreshToken(String)
      case code(String, redirectURL: URL?, verifier: String?)
      case device(URL, @Sendable (DevicePrompt) async throws -> Void)
    }

    let kind: Kind

    /// The client's own account (RFC 6749 §4.4).
    public static let clientCredentials = Grant(kind: .clientCredentials)

    /// A user's name and password (RFC 6749 §4.3). OAuth 2.1 has it no more: for servers that offer nothing else.
    public static func password(user: String, password: String) -> Grant {
      Grant(kind: .password(Credential(user: user, password: password)))
    }

    /// A refresh token that the app has already (RFC 6749 §6). One that came for it and is in the store is later, and is used before
    /// it.
    public static func refreshToken(_ token: String) -> Grant { Grant(kind: .refreshToken(token)) }

    /// A code that the app got from the user's sign-in in a browser (RFC 6749 §4.1). It is sent once, whatever token another sign-in
    /// has stored; after a restart the token that came for it is used.
    ///
    /// - Parameters:
    ///   - code: The code of the redirect.
    ///   - redirectURL: The URL that the browser was sent to; nil where the request for the code had none.
    ///   - pkce: The proof of which the request for the code had the challenge (RFC 7636).
    public static func authorizationCode(_ code: String, redirectURL: URL? = nil, pkce: PKCE? = nil) -> Grant {
      Grant(kind: .code(code, redirectURL: redirectURL, verifier: pkce?.verifier))
    }

    /// A code that the user types on another device (RFC 8628).
    ///
    /// - Parameters:
    ///   - url: The device authorization endpoint.
    ///   - show: Shows the user where to type what. The token is polled for once it returns, until the code ends.
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
    /// The code to type.
    public let userCode: String
    /// The page to type it on.
    public let verificationURL: URL
    /// The same page with the code in it, for a QR code; nil where the server has none.
    public let completeURL: URL?
    /// The time until the code ends.
    public let lifetime: Duration
  }

  /// The proof that who redeems a code is who asked for it (RFC 7636).
  ///
  ///     let pkce = OAuth2.PKCE()
  ///     let url = signIn.authorizationURL(authorizationURL, redirectURL: redirect, state: state, pkce: pkce)
  ///     // … the browser comes back with a code:
  ///     signIn.grant = .authorizationCode(code, redirectURL: redirect, pkce: pkce)
  public struct PKCE: Sendable, Hashable, CustomStringConvertible {
    /// The secret, which goes with the request for the token.
    public let verifier: String

    /// A secret of 64 random digits.
    public init() { self.init(verifier: CallRandom.system.key() + CallRandom.system.key()) }

    /// A secret of 43 to 128 letters, digits and `-._~` (RFC 7636 §4.1), to go on with one that was kept.
    public init(verifier: String) { self.verifier = verifier }

    /// The hash of the secret, which goes with the request for the code (RFC 7636 §4.2, method S256).
    public var challenge: String {
      Data(SHA256.hash(Array(verifier.utf8))).base64EncodedString().replacing("+", with: "-")
        .replacing("/", with: "_").replacing("=", with: "")
    }

    /// Nothing that is secret.
    public var description: String { "PKCE(<redacted>)" }
  }

  /// The page on which the user signs in, to be opened in a browser (RFC 6749 §4.1.1).
  ///
  /// - Parameters:
  ///   - endpoint: The authorization endpoint.
  ///   - redirectURL: The URL that the browser is sent to afterwards.
  ///   - state: What the redirect has to bring back: compare it. Random, and new each time.
  ///   - pkce: The proof for the request for the token.
  /// - Returns: The URL.
  /// - Throws: ``TaskError`` with code `.badURL` where that is none.
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
        .badURL, "'\(Redaction.standard(endpoint).shortened)' is no URL that a query can be added to", phase: .preparing
      )
    }
    return url
  }
}

extension OAuth2.DevicePrompt {
  /// Throws ``TaskError`` with code `.authenticationFailed` if the user must not be sent to one of the pages.
  ///
  /// - Parameter url: The device authorization endpoint, which named them.
  func check(from url: URL) throws {
    for page in [verificationURL, completeURL].compactMap({ $0 }) {
      do {
        _ = try LinkedURL(page, from: [url])
      } catch {
        throw TaskError(
          .authenticationFailed,
          "the page to sign in on, '\(Redaction.standard(page).shortened)', is not shown: \(error.reason)",
          phase: .authenticating)
      }
    }
  }
}
