import ErrandFoundation

/// The response of a token endpoint, and the errors created from it.
struct TokenAnswer: Sendable {
  let response: HTTPResponse
  let data: Data
  let secrets: SentSecrets
  let redaction: Redaction

  /// The body as JSON. Some servers, such as GitHub, return a form, as was common before RFC 6749.
  var json: Data {
    guard let form, let json = try? JSONEncoder().encode(form) else { return data }  // encoding strings can't fail
    return json
  }

  private var form: [String: String]? {
    let text = String(decoding: data, as: UTF8.self)
    guard !text.beginsAsJSON, text.contains("="), !text.contains("<") else { return nil }
    var members: [String: String] = [:]
    for pair in text.split(whereSeparator: { $0 == "&" || $0.isNewline }) {
      let name = pair.prefix { $0 != "=" }
      members[Redaction.unescaped(name)] = Redaction.unescaped(pair.dropFirst(name.count + 1))
    }
    return members
  }

  /// The body for error messages, without secrets. Empty if it is not text or if the redaction hides it.
  private var body: Data {
    let type = response.mediaType
    guard !redaction.hidesBody(of: type), !redaction.hidesBody(of: .json), !data.contains(0) else { return Data() }
    let text = PayloadCoding.text(data, type)
    // Apply the standard redaction too: even an app that shows its own traffic should not show tokens.
    let shown = redaction.inFull(body: Redaction.standard.inFull(body: text, type), type)
    return Data(secrets.hidden(in: shown).utf8)
  }

  /// The OAuth 2 error, or `nil` if the body is something else, such as a text page.
  var refusal: OAuth2.Refusal? {
    guard let stated = try? JSONDecoder().decode(StatedRefusal.self, from: json) else { return nil }
    return OAuth2.Refusal(
      code: secrets.hidden(inCode: stated.code), detail: stated.detail.map { secrets.hidden(in: $0) },
      status: response.status, type: response.mediaType, body: body)
  }

  var failure: TaskError {
    let body = body
    let words = redaction.summary(of: body, type: response.mediaType)
    let advice = OAuth2.advice(for: nil, response.status).map { ": \($0)" } ?? ""
    return error(
      "the token endpoint \(Redaction.standard(response.url)) returned \(response.status)"
        + (words.isEmpty || words == "\(response.status)" ? "" : ": \(words)") + advice, body)
  }

  func failure(_ reason: String) -> TaskError {
    error("no token from \(Redaction.standard(response.url)): \(reason)", body)
  }

  private func error(_ reason: String, _ body: Data) -> TaskError {
    var error = TaskError(.authenticationFailed, reason, phase: .authenticating)
    error.status = response.status
    error.body = body
    return error
  }
}

extension OAuth2 {
  /// Returns advice on the setting to check after a refusal, or `nil` if no setting is likely to be wrong.
  static func advice(for code: String?, _ status: HTTPStatus) -> String? {
    switch code {
    case "invalid_client": "check OAuth2.client: its id, its secret, and its placement (.header or .body)"
    case "invalid_scope": "check OAuth2.scopes"
    case "invalid_target": "check OAuth2.parameters"
    case "unsupported_grant_type", "unauthorized_client": "check OAuth2.grant"
    case "invalid_grant", "authorization_pending", "slow_down", "expired_token", "access_denied": nil
    default: advice(for: status)
    }
  }

  private static func advice(for status: HTTPStatus) -> String? {
    switch status.code {
    case 401, 403: "check OAuth2.client: its id, its secret, and its placement (.header or .body)"
    case 300..<400, 404, 405, 410: "check OAuth2.tokenURL"
    case 400..<500 where status.code != 408 && status.code != 429:
      "set OAuth2.tokenRequest if the server expects a different request"
    default: nil
    }
  }
}
