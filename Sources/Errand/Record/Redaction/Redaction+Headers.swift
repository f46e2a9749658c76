/// Header fields: hidden by their names, by the scheme of a credential, and by what their values say.
extension Redaction {
  /// The fields with the values of secret ones hidden, and secrets in the URLs of others.
  public func callAsFunction(_ headers: HTTPHeaders) -> HTTPHeaders {
    HTTPHeaders(headers.map { .init($0.name, value(of: $0)) })
  }

  func value(of field: HTTPHeaders.Field) -> String {
    // These are of one request, and not among what the names know.
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

  /// True where one pass over a field tells that it is shown as it is.
  private func isPlain(_ field: HTTPHeaders.Field) -> Bool {
    !hidesName(field.name) && names.clears(field.value) && (names.isEmpty || Self.scheme(ofCredential: field) == nil)
  }

  /// The scheme of a value that is a credential, whatever the name of its field: `Bearer eyJ…` (RFC 9110 §11.4); nil where it is none.
  private static func scheme(ofCredential field: HTTPHeaders.Field) -> Substring? {
    let scheme = field.value.firstWord
    guard scheme.utf8.count >= 4, schemes.contains(HTTPHeaderName(String(scheme))) else { return nil }
    // What a server offers is no credential, and in running text a word is one.
    let rest = field.value[scheme.endIndex...].trimmingSpaces()
    let isOffer = field.name == .wwwAuthenticate || field.name == "Proxy-Authenticate"
    return isOffer || rest.isEmpty || (rest.contains(" ") && !rest.contains("=")) ? nil : scheme
  }

  private static let schemes: Set<HTTPHeaderName> = [
    "Basic", "Bearer", "Digest", "DPoP", "HOBA", "NTLM", "Negotiate", "Token", "Kerberos",
  ]

  /// A permission to send credentials (Fetch §3.3.3), and none itself.
  private static let permission: HTTPHeaderName = "Access-Control-Allow-Credentials"

  /// True when the values of a header field are hidden.
  func hidesValue(of field: HTTPHeaderName) -> Bool {
    headers.contains(field) || credentials.contains(field) || hidesName(field)
  }

  /// True for fields that never go to another origin by themselves, whatever is shown of them: by their names alone.
  func keepsHome(_ field: HTTPHeaderName) -> Bool {
    hidesValue(of: field) || Redaction.standard.hidesValue(of: field) || Self.mayNameSecret(field.rawName)
  }

  /// True for a name that contains the name of a secret. More than people are spared: what is wrongly kept from another origin
  /// harms less than what is wrongly sent to it.
  static func mayNameSecret(_ name: String) -> Bool { suspicious.kind(of: name.utf8) != .plain }

  private static let suspicious = SecretNames(
    [],
    parts: [
      "token", "secret", "passw", "passphrase", "signature", "session", "credential", "authorization", "assertion",
      "passcode", "jwt", "api_key", "access_key", "private_key", "subscription_key", "application_key", "account_key",
      "master_key", "functions_key", "signing_key", "encryption_key",
    ])

  /// True for a field of a request that is a credential, whatever is shown of it: it never goes to another origin by itself, and
  /// what one user gets for it is no other's.
  ///
  /// - Parameters:
  ///   - field: The field: its name may tell, or the scheme of its value.
  ///   - named: The fields that the request names as credentials.
  func keepsHome(_ field: HTTPHeaders.Field, named: Set<HTTPHeaderName> = []) -> Bool {
    named.contains(field.name) || keepsHome(field.name) || Self.hasScheme(field)
  }

  /// True for a field whose value is a credential by its scheme, whatever its name.
  static func hasScheme(_ field: HTTPHeaders.Field) -> Bool { scheme(ofCredential: field) != nil }

  /// True when the values are hidden for the name's sake. `Code` is the name of no field of OAuth.
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
  /// True when a field's name begins with `X-`, which says nothing (RFC 6648).
  fileprivate var hasExtensionPrefix: Bool {
    var bytes = utf8.makeIterator()
    guard let first = bytes.next(), first | 0x20 == UInt8(ascii: "x") else { return false }
    return bytes.next() == UInt8(ascii: "-")
  }

  /// The letters before its first blank, ten at most; empty where there are other signs, or no blank.
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
