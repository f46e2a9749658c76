extension Redaction {
  /// Returns the header fields with secret values hidden, including secrets in URLs.
  public func callAsFunction(_ headers: HTTPHeaders) -> HTTPHeaders {
    HTTPHeaders(headers.map { .init($0.name, value(of: $0)) })
  }

  func value(of field: HTTPHeaders.Field) -> String {
    // Credentials are specific to one request, so `names` does not cache them.
    if credentials.contains(field.name) { return Self.mark }
    if names.knows(plain: field) { return field.value }
    if headers.contains(field.name) { return Self.mark }
    if isPlain(field) {
      names.remember(plain: field)
      return field.value
    }
    if hidesName(field.name) { return Self.mark }
    guard !names.isEmpty, let scheme = Self.scheme(ofCredential: field) else { return self(text: field.value) }
    return "\(scheme) \(Self.mark)"
  }

  /// Whether a single pass shows that the field contains nothing to hide.
  private func isPlain(_ field: HTTPHeaders.Field) -> Bool {
    !hidesName(field.name) && names.clears(field.value) && (names.isEmpty || Self.scheme(ofCredential: field) == nil)
  }

  /// Returns the scheme if the value is a credential, such as `Bearer eyJ…`, regardless of the field name (RFC 9110
  /// §11.4). Otherwise, returns `nil`.
  private static func scheme(ofCredential field: HTTPHeaders.Field) -> Substring? {
    let scheme = field.value.firstWord
    guard scheme.utf8.count >= 4, schemes.contains(HTTPHeaderName(String(scheme))) else { return nil }
    // A challenge from the server is not a credential. In prose, the name of a scheme can be an ordinary word.
    let rest = field.value[scheme.endIndex...].trimmingSpaces()
    let isOffer = field.name == .wwwAuthenticate || field.name == "Proxy-Authenticate"
    return isOffer || rest.isEmpty || (rest.contains(" ") && !rest.contains("=")) ? nil : scheme
  }

  private static let schemes: Set<HTTPHeaderName> = [
    "Basic", "Bearer", "Digest", "DPoP", "HOBA", "NTLM", "Negotiate", "Token", "Kerberos",
  ]

  /// A permission to send credentials (Fetch §3.3.3), not a credential.
  private static let permission: HTTPHeaderName = "Access-Control-Allow-Credentials"

  func hidesValue(of field: HTTPHeaderName) -> Bool {
    headers.contains(field) || credentials.contains(field) || hidesName(field)
  }

  /// Whether fields with this name must not be sent to another origin automatically, even if this policy shows them.
  func keepsHome(_ field: HTTPHeaderName) -> Bool {
    hidesValue(of: field) || Redaction.standard.hidesValue(of: field) || Self.mayNameSecret(field.rawName)
  }

  /// Whether a name contains the name of a secret. This covers more names than redaction does, because withholding a
  /// field from another origin does less harm than leaking it.
  static func mayNameSecret(_ name: String) -> Bool { suspicious.kind(of: name.utf8) != .plain }

  private static let suspicious = SecretNames(
    [],
    parts: [
      "token", "secret", "passw", "passphrase", "signature", "session", "credential", "authorization", "assertion",
      "passcode", "jwt", "api_key", "access_key", "private_key", "subscription_key", "application_key", "account_key",
      "master_key", "functions_key", "signing_key", "encryption_key",
    ])

  /// Whether a request field is a credential, even if this policy shows it. Credentials are never sent to another
  /// origin automatically, and responses to requests with credentials are not shared between users.
  ///
  /// A field is a credential because of its name, because its value begins with an authentication scheme, or because it
  /// is in `named`, the request's own credentials.
  func keepsHome(_ field: HTTPHeaders.Field, named: Set<HTTPHeaderName> = []) -> Bool {
    named.contains(field.name) || keepsHome(field.name) || Self.hasScheme(field)
  }

  /// Whether the value begins with an authentication scheme, regardless of the field name.
  static func hasScheme(_ field: HTTPHeaders.Field) -> Bool { scheme(ofCredential: field) != nil }

  /// Whether the values are hidden because of the field name. `Code` is not hidden, because OAuth has no such field.
  private func hidesName(_ field: HTTPHeaderName) -> Bool {
    let name = field.rawName
    if !name.hasExtensionPrefix, names.clears(name) { return false }
    guard field != Self.permission else { return false }
    return names.remembering(field) {
      let kinds = [kind(of: name), name.hasExtensionPrefix ? kind(of: name.dropFirst(2)) : .plain]
      return kinds.contains { $0 != .plain && $0 != .code }
    }
  }
}

extension String {
  /// Whether a field name begins with `X-`, which has no meaning (RFC 6648).
  fileprivate var hasExtensionPrefix: Bool {
    var bytes = utf8.makeIterator()
    guard let first = bytes.next(), first | 0x20 == UInt8(ascii: "x") else { return false }
    return bytes.next() == UInt8(ascii: "-")
  }

  /// The letters before the first whitespace, up to ten. Empty if there are other characters or no whitespace.
  fileprivate var firstWord: Substring {
    var length = 0
    for byte in utf8 {
      if byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { return Substring(utf8.prefix(length)) }
      guard length < 10, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) else { return "" }
      length += 1
    }
    return ""
  }
}
