import ErrandFoundation

/// The secrets in a token request. Some servers repeat them in error responses.
struct SentSecrets: Sendable {
  /// The secrets, longest first, because a secret can be part of another one.
  private let secrets: [String]

  init(_ exchange: OAuth2.Exchange, _ request: HTTPRequest, _ redaction: Redaction) {
    let parameters = exchange.parameters.items
      .filter { item in
        [.standard, redaction].contains { $0.isSecret(item.name) } || Redaction.mayNameSecret(item.name)
      }.compactMap(\.value)
    let fields = request.headers.filter { redaction.keepsHome($0.name) }.map(\.value)
    // Also search for the credential without its scheme and padding, because some servers omit them.
    let credentials = fields.compactMap { field -> String? in
      guard let credential = field.split(separator: " ", maxSplits: 1).last else { return nil }
      return credential.lastIndex { $0 != "=" }.map { String(credential[...$0]) }
    }
    let plain = parameters + [exchange.client.secret ?? ""] + fields + credentials
    let escaped = plain.map(HTTPQuery.escaped)
    secrets = Set(plain + escaped + escaped.map { $0.replacing("%20", with: "+") }).filter { !$0.isEmpty }
      .sorted { $0.utf8.count > $1.utf8.count }
  }

  /// Returns a text with its secrets hidden. Hides the entire text if it contains a secret in another form, for example
  /// with lowercase escapes.
  func hidden(in text: String) -> String {
    let shown = secrets.reduce(text) { $0.replacing($1, with: Redaction.mark) }
    let plain = [shown, shown.replacing("+", with: " ")].map(\.percentDecodedAsFarAsPossible)
    return secrets.contains { secret in plain.contains { $0.contains(secret) } } ? Redaction.mark : shown
  }

  /// Returns an error code with its secrets hidden. Hides the entire code if it is invalid (RFC 6749 §5.2).
  func hidden(inCode code: String) -> String {
    if OAuth2.Refusal.words.contains(code) { return code }
    let isWord = code.hasOnlyBytes {
      (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
    }
    return isWord ? hidden(in: code) : Redaction.mark
  }
}

extension OAuth2.Refusal {
  /// The error codes defined in RFC 6749 §4.1.2.1 and §5.2, RFC 8628 §3.5, RFC 8707 §2 and OpenID Connect.
  static let words: Set = [
    "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
    "invalid_scope",
    "access_denied", "server_error", "temporarily_unavailable", "authorization_pending", "slow_down", "expired_token",
    "invalid_target", "interaction_required", "login_required", "consent_required", "account_selection_required",
  ]
}
