import ErrandFoundation

/// Sends a client's token requests and reads the responses.
struct TokenEndpoint: Sendable {
  let settings: OAuth2

  /// Requests a token. `isRepeatable` says whether the grant can be sent again although the server may have processed
  /// it. If it is `nil`, the caller handles failures.
  /// Throws ``OAuth2/Refusal`` if the server refuses, ``TaskError`` if its response is invalid, or `CancellationError`.
  func token(
    _ grant: HTTPQuery, isRepeatable: Bool? = false, _ context: RefreshContext
  ) async throws -> AccessToken {
    var parameters = grant
    for item in settings.parameters.items { parameters.add(item.name, item.value) }
    let exchange = OAuth2.Exchange(
      url: settings.tokenURL, client: settings.client, parameters: parameters, headers: settings.headers)
    let request = try settings.tokenRequest?(exchange) ?? exchange.request()
    let retry = isRepeatable.map { TokenRetry(policy: settings.retryPolicy, isRepeatable: $0) }
    let answer = try await answer(to: request, for: exchange, retry, context)
    let token = try token(in: answer, now: context.now)
    // If an invalid token were stored, every call would fail.
    guard token.value.isBearerToken else {
      throw answer.failure(
        "its access_token is empty or contains a character that is invalid in a header: set OAuth2.tokenParser to read another field"
      )
    }
    return token
  }

  private func answer(
    to request: HTTPRequest, for exchange: OAuth2.Exchange, _ retry: TokenRetry?, _ context: RefreshContext
  ) async throws -> TokenAnswer {
    let secrets = SentSecrets(exchange, request, context.redaction)
    let response = try await context.send(request, retry)
    return TokenAnswer(
      response: response, data: try await response.body.collect(), secrets: secrets, redaction: context.redaction)
  }

  private func token(in answer: TokenAnswer, now: Date) throws -> AccessToken {
    if let parse = settings.tokenParser { return try parse(answer.response, answer.data, now) }
    guard answer.response.status.kind == .success else { throw answer.refusal ?? answer.failure }
    do {
      return try JSONDecoder().decode(StatedToken.self, from: answer.json).token(now)
    } catch let other as OtherType {
      throw answer.failure(
        "its token has the type '\(other.type.shortened)' instead of Bearer: "
          + "set OAuth2.tokenParser if the token can be sent as a bearer token")
    } catch {
      // Some servers report an error with status 200. Don't include the decoding error, because it can contain the
      // token.
      throw answer.refusal
        ?? answer.failure(
          "the response has no access_token (RFC 6749 §5.1): set OAuth2.tokenParser if another field has the token")
    }
  }

  /// Requests a device code (RFC 8628 §3.1).
  func deviceCode(at url: URL, _ context: RefreshContext) async throws -> DeviceCode {
    var parameters = HTTPQuery()
    if !settings.scopes.isEmpty { parameters.add("scope", settings.scopes.joined(separator: " ")) }
    let exchange = OAuth2.Exchange(
      url: url, client: settings.client, parameters: parameters, headers: settings.headers)
    let request = try exchange.request()
    let retry = TokenRetry(policy: settings.retryPolicy, isRepeatable: false)
    let answer = try await answer(to: request, for: exchange, retry, context)
    guard answer.response.status.kind == .success else { throw answer.refusal ?? answer.failure }
    do {
      return try JSONDecoder().decode(DeviceCode.self, from: answer.json)
    } catch {
      throw answer.refusal
        ?? answer.failure("the response has no device code (RFC 8628 §3.2): check the URL of .deviceCode(at:)")
    }
  }
}

extension OAuth2.Exchange {
  /// Returns the standard request of RFC 6749: a form, with the client's credential in `Authorization` or in the body.
  public func request() throws -> HTTPRequest {
    var form = parameters
    var fields: HTTPHeaders = [.accept: "application/json", .contentType: MediaType.form.rawValue]
    switch (client.secret, client.placement) {
    case (nil, _): form.add("client_id", client.id)
    case (let secret?, .body):
      form.add("client_id", client.id)
      form.add("client_secret", secret)
    case (let secret?, .header):
      // RFC 6749 §2.3.1: form-encode the identifier and the secret first. This also escapes colons.
      let credential = Credential(user: HTTPQuery.escaped(client.id), password: HTTPQuery.escaped(secret))
      fields[.authorization] = try credential.basicAuthorization()
    }
    fields.replace(with: headers)
    return HTTPRequest(.post, url, headers: fields, body: .form(form))
  }
}
