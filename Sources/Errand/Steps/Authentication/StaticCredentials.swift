import ErrandFoundation

/// Sends a user name and a password with every request (RFC 7617).
struct BasicAuthenticator: Authenticator {
  let credential: Credential

  var isRefreshable: Bool { false }

  func storedToken() async throws -> Credential? { credential }

  func apply(_ credential: Credential, to request: inout HTTPRequest) throws {
    request.headers[.authorization] = try credential.basicAuthorization()
  }

  func refresh(_ token: Credential?, after response: HTTPResponse?, _ context: RefreshContext) async throws
    -> Credential?
  { nil }
}

/// Answers Digest challenges with a user name and a password (RFC 7616).
struct DigestAuthenticator: Authenticator {
  let credential: Credential

  var isRefreshable: Bool { false }

  func storedToken() async throws -> Credential? { credential }

  func apply(_ credential: Credential, to request: inout HTTPRequest) {
    request.headers.remove(.authorization)  // challenges are not answered if the request has this field
    request.options.digest = credential
  }

  func refresh(
    _ token: Credential?, after response: HTTPResponse?, _ context: RefreshContext
  ) async throws -> Credential? { nil }
}

/// Sends a key in a header field with every request.
struct KeyAuthenticator: Authenticator {
  let key: String
  let header: HTTPHeaderName

  var isRefreshable: Bool { false }

  func storedToken() async throws -> String? { key }

  func apply(_ key: String, to request: inout HTTPRequest) { request.headers[header] = key }

  func refresh(_ token: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
    nil
  }
}

/// Sends a token with every request (RFC 6750 §2.1) and replaces it after a 401.
struct BearerAuthenticator: Authenticator {
  private let fixed: String?
  private let provide: (@Sendable () async throws -> String)?

  init(_ token: String) { (fixed, provide) = (token, nil) }

  init(_ provide: @escaping @Sendable () async throws -> String) { (fixed, self.provide) = (nil, provide) }

  var isRefreshable: Bool { provide != nil }

  func storedToken() async throws -> String? { fixed }

  func apply(_ token: String, to request: inout HTTPRequest) throws { try request.setBearer(token) }

  func refresh(_ token: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
    try await provide?()
  }

  func isAuthenticationFailure(_ response: HTTPResponse) -> Bool { response.refusesBearer }
}

extension HTTPRequest {
  /// Sets the `Authorization` field. Throws ``TaskError`` with code `.badRequest` if the token can't be sent in a
  /// header.
  mutating func setBearer(_ token: String) throws {
    guard token.isBearerToken else {
      throw TaskError(
        .badRequest, "the bearer token is empty or contains a character that is invalid in a header: check its source",
        phase: .preparing, wasNotSent: true)
    }
    headers[.authorization] = "Bearer \(token)"
  }
}

extension String {
  var isBearerToken: Bool {
    // RFC 6750 §2.1 allows only letters, digits and -._~+/=. Some servers use other characters, which are harmless
    // here.
    !isEmpty && hasOnlyBytes { $0 > 0x20 && $0 < 0x7F }
  }
}

extension HTTPResponse {
  /// Whether a new token could help. If the current token lacks a scope, a new token would lack it too (RFC 6750 §3.1).
  var refusesBearer: Bool {
    status == .unauthorized
      && !headers.challenges.contains { $0.isScheme("Bearer") && $0["error"] == "insufficient_scope" }
  }
}

extension Credential {
  /// Returns the value of the `Authorization` field (RFC 7617 §2), encoded as UTF-8.
  /// Throws ``TaskError`` with code `.badRequest` if the user name contains a colon, or if the user name or the
  /// password contains a control character.
  func basicAuthorization() throws -> String {
    guard !user.utf8.contains(UInt8(ascii: ":")), user.hasNoControls, password.hasNoControls else {
      throw TaskError(
        .badRequest,
        "can't use Basic authentication: the user name contains a colon, or the user name or password contains a control character; use another credential",
        phase: .preparing, wasNotSent: true)
    }
    return "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
  }
}
