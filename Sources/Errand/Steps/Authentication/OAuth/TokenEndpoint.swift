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
    let request = try settings.tokenRequest?(exchange) ?? exchange.request()
    let secrets = SentSecrets(exchange, request, context.redaction)
    let response = try await context.send(request)
    let body = try await response.body.collect()
    let token = try token(in: body, of: response, secrets, now: context.now)
    // It would be stored, and then fail every call.
    guard token.value.isBearerToken else {
      throw Self.failure("its access_token is empty, or has a character that no header may have", response)
    }
    return token
  }

  private func token(
    in body: Data, of response: HTTPResponse, _ secrets: SentSecrets, now: Date
  ) throws -> AccessToken {
    if let parse = settings.tokenParser { return try parse(response, body, now) }
    guard response.status.kind == .success else { throw failure(response, body, secrets) }
    do {
      return try JSONDecoder().decode(StatedToken.self, from: body).token(now)
    } catch let refusal as OtherType {
      throw Self.failure("its token is of the type '\(refusal.type.shortened)', and not a bearer token", response)
    } catch {
      // Some servers refuse with 200. The error of the decoder may quote what it read.
      throw refusal(response, body, secrets)
        ?? Self.failure("its answer has no access_token (RFC 6749 §5.1): give a tokenParser", response)
    }
  }

  /// Requests a code for a device (RFC 8628 §3.1).
  func deviceCode(at url: URL, _ context: RefreshContext) async throws -> DeviceCode {
    var parameters = HTTPQuery()
    if !settings.scopes.isEmpty { parameters.add("scope", settings.scopes.joined(separator: " ")) }
    let exchange = OAuth2.Exchange(
      url: url, client: settings.client, parameters: parameters, headers: settings.headers)
    let request = try exchange.request()
    let secrets = SentSecrets(exchange, request, context.redaction)
    let response = try await context.send(request)
    let body = try await response.body.collect()
    guard response.status.kind == .success else { throw failure(response, body, secrets) }
    do {
      return try JSONDecoder().decode(DeviceCode.self, from: body)
    } catch {
      throw refusal(response, body, secrets)
        ?? TaskError(
          .authenticationFailed, "the answer of \(Redaction.standard(url)) has no device code (RFC 8628 §3.2)",
          phase: .authenticating, underlying: error)
    }
  }

  /// The refusal that a response states; nil where it states none, as a page of text.
  private func refusal(_ response: HTTPResponse, _ body: Data, _ secrets: SentSecrets) -> (any Error)? {
    guard let stated = try? JSONDecoder().decode(StatedRefusal.self, from: body) else { return nil }
    // Some servers repeat what they refuse.
    return OAuth2.Refusal(
      code: secrets.hidden(inCode: stated.error), detail: stated.error_description.map { secrets.hidden(in: $0) },
      status: response.status, type: response.mediaType)
  }

  /// The error for a status that is no success.
  private func failure(_ response: HTTPResponse, _ body: Data, _ secrets: SentSecrets) -> any Error {
    if let refusal = refusal(response, body, secrets) { return refusal }
    var error = TaskError(
      .authenticationFailed, "the token endpoint \(Redaction.standard(response.url)) answered \(response.status)",
      phase: .authenticating)
    error.status = response.status
    return error
  }

  private static func failure(_ reason: String, _ response: HTTPResponse) -> TaskError {
    TaskError(
      .authenticationFailed, "no token came from \(Redaction.standard(response.url)): \(reason)", phase: .authenticating
    )
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
