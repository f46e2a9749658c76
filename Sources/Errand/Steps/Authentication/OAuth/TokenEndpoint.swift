import ErrandFoundation

/// The requests for tokens of a client, and what their responses say.
struct TokenEndpoint: Sendable {
  let settings: OAuth2

  /// Requests a token.
  ///
  /// - Parameters:
  ///   - grant: The grant and its parameters.
  ///   - context: The means of the refresh.
  /// - Returns: The token.
  /// - Throws: ``OAuth2/Refusal`` for a refusal, ``TaskError`` for what is no answer, or `CancellationError`.
  func token(_ grant: HTTPQuery, _ context: RefreshContext) async throws -> AccessToken {
    var parameters = grant
    for item in settings.parameters.items { parameters.add(item.name, item.value) }
    let exchange = OAuth2.Exchange(
      url: settings.tokenURL, client: settings.client, parameters: parameters, headers: settings.headers)
    let response = try await context.send(try settings.tokenRequest?(exchange) ?? exchange.request())
    let body = try await response.body.collect()
    if let parse = settings.tokenParser { return try parse(response, body, context.now) }
    guard response.status.kind == .success else { throw refusal(response, body) }
    return try Self.token(in: body, of: response, now: context.now)
  }

  /// Requests a code for a device (RFC 8628 §3.1).
  func deviceCode(at url: URL, _ context: RefreshContext) async throws -> DeviceCode {
    var parameters = HTTPQuery()
    if !settings.scopes.isEmpty { parameters.add("scope", settings.scopes.joined(separator: " ")) }
    let exchange = OAuth2.Exchange(
      url: url, client: settings.client, parameters: parameters, headers: settings.headers)
    let response = try await context.send(try exchange.request())
    let body = try await response.body.collect()
    guard response.status.kind == .success else { throw refusal(response, body) }
    do {
      return try JSONDecoder().decode(DeviceCode.self, from: body)
    } catch {
      throw TaskError(
        .authenticationFailed, "the answer of \(Redaction.standard(url)) has no device code (RFC 8628 §3.2)",
        phase: .authenticating, underlying: error)
    }
  }

  /// The refusal that a response states; what states none is one by its status.
  private func refusal(_ response: HTTPResponse, _ body: Data) -> any Error {
    let stated = try? JSONDecoder().decode(StatedRefusal.self, from: body)  // a page of text says nothing
    guard let stated else {
      var error = TaskError(
        .authenticationFailed, "the token endpoint \(Redaction.standard(response.url)) answered \(response.status)",
        phase: .authenticating)
      error.status = response.status
      return error
    }
    return OAuth2.Refusal(code: stated.error, detail: stated.error_description, status: response.status)
  }

  private struct StatedRefusal: Decodable {
    let error: String
    let error_description: String?
  }

  // RFC 6749 §5.1. Some servers write the number as a text, and leave the type out.
  private struct StatedToken: Decodable {
    let access_token: String
    let token_type: String?
    let expires_in: LenientNumber?
    let refresh_token: String?
    let scope: String?
  }

  private static func token(in body: Data, of response: HTTPResponse, now: Date) throws -> AccessToken {
    let stated: StatedToken
    do {
      stated = try JSONDecoder().decode(StatedToken.self, from: body)
    } catch {
      // The error of the decoder may quote what it read.
      throw failure("its answer has no access_token (RFC 6749 §5.1): give a tokenParser", response)
    }
    guard stated.token_type?.lowercased() ?? "bearer" == "bearer" else {
      throw failure(
        "its token is of the type '\(stated.token_type?.shortened ?? "")', and not a bearer token", response)
    }
    return AccessToken(
      stated.access_token, issued: now,
      expiry: stated.expires_in.map { now.addingTimeInterval($0.value) }, refreshToken: stated.refresh_token,
      scope: stated.scope)
  }

  private static func failure(_ reason: String, _ response: HTTPResponse) -> TaskError {
    TaskError(
      .authenticationFailed, "no token came from \(Redaction.standard(response.url)): \(reason)", phase: .authenticating
    )
  }
}

/// A number of seconds from zero up to a thousand million, or a text that is one.
struct LenientNumber: Decodable, Sendable {
  let value: Double

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Double.self) {  // a text is read next
      value = min(max(0, number), 1e9)
    } else if let number = Double(try container.decode(String.self)), number.isFinite {
      value = min(max(0, number), 1e9)
    } else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "no number")
    }
  }
}

/// The answer to a request for a device code (RFC 8628 §3.2).
struct DeviceCode: Decodable, Sendable {
  let device_code: String
  let user_code: String
  let verification_uri: URL
  let verification_uri_complete: URL?
  let expires_in: LenientNumber
  let interval: LenientNumber?

  var prompt: OAuth2.DevicePrompt {
    OAuth2.DevicePrompt(
      userCode: user_code, verificationURL: verification_uri, completeURL: verification_uri_complete,
      lifetime: .seconds(expires_in.value))
  }
}

extension OAuth2.Exchange {
  /// The request of RFC 6749: a form, with the client's credential in `Authorization` or in the body.
  public func request() throws -> HTTPRequest {
    var form = parameters
    var fields: HTTPHeaders = [.accept: "application/json", .contentType: MediaType.form.rawValue]
    switch (client.secret, client.placement) {
    case (nil, _): form.add("client_id", client.id)
    case (let secret?, .body):
      form.add("client_id", client.id)
      form.add("client_secret", secret)
    case (let secret?, .header):
      // RFC 6749 §2.3.1: each is form-encoded first, so that a colon is none.
      let credential = Credential(user: HTTPQuery.escaped(client.id), password: HTTPQuery.escaped(secret))
      fields[.authorization] = try credential.basicAuthorization()
    }
    fields.replace(with: headers)
    return HTTPRequest(.post, url, headers: fields, body: .form(form))
  }
}
