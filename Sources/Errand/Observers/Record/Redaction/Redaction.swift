public import ErrandFoundation

/// A policy that keeps secrets out of everything that people may read: echoes, logs, errors, recordings and exports.
///
/// Redaction is on by default. Names are compared ignoring `-`, `_` and case. `accessToken`, `access_token` and
/// `X-Access-Token` are secret because they end with `token`, but `tokenCount` is not.
public struct Redaction: Sendable {
  /// Header fields whose values are hidden.
  public var headers: Set<HTTPHeaderName> { didSet { updateNames() } }
  /// Names in headers, queries, forms and JSON bodies whose values are hidden.
  ///
  /// `code` is hidden only in OAuth exchanges, and `key` is hidden in JSON only if its value contains digits. To hide
  /// them everywhere, add them to ``fragments``.
  public var fields: Set<String> { didSet { updateNames() } }
  /// Parts of names. Every name that contains one of these parts is secret. Empty in ``standard``.
  public var fragments: Set<String> { didSet { updateNames() } }
  /// Endings of names. For example, `token` hides `token` and `accessToken`, but not `tokenCount`.
  public var endings: Set<String> { didSet { updateNames() } }
  /// Members of JSON bodies whose values are hidden, as paths from the root, such as `customer.email`. `*` matches any
  /// name. Array elements have the same path as their array: `cards.number` is the number of every card.
  public var paths: Set<String> { didSet { places = SecretPlaces(paths) } }
  /// Media types whose bodies are never shown, such as `application/pdf`, or `text/*` for an entire group.
  public var bodies: Set<MediaType> { didSet { types = Set(bodies.map(\.essence)) } }

  /// The secret names, with a cache of fields that contain nothing to hide.
  private(set) var names: SecretNames
  /// The header fields that a request declares as secret.
  private(set) var credentials: Set<HTTPHeaderName> = []
  private(set) var places: SecretPlaces
  private(set) var types: Set<String>

  /// Creates a policy that hides the values of these names and paths, and bodies of these media types. Like every
  /// policy, it also hides user names and passwords in URLs.
  public init(
    headers: Set<HTTPHeaderName>, fields: Set<String>, fragments: Set<String> = [], paths: Set<String> = [],
    bodies: Set<MediaType> = [], endings: Set<String> = []
  ) {
    self.headers = headers
    self.fields = fields
    self.fragments = fragments
    self.paths = paths
    self.bodies = bodies
    self.endings = endings
    names = SecretNames(fields, parts: fragments, endings: endings)
    places = SecretPlaces(paths)
    types = Set(bodies.map(\.essence))
  }

  /// The default policy. Hides credentials, cookies, keys, tokens and passwords.
  public static let standard = Redaction(
    headers: [
      .authorization, .proxyAuthorization, .cookie, .setCookie, "Cookie2", "Set-Cookie2", "Authentication-Info",
      "Proxy-Authentication-Info", "X-Auth", "X-Auth-Key", .baggage,
    ],
    fields: [
      "key", "sig", "code", "auth", "pwd", "pass", "otp", "totp", "sid", "cookie", "hmac", "session", "token_id",
      "code_verifier", "device_code", "auth_code", "authorization_code", "SAMLResponse",
    ],
    endings: [
      "token", "tokens", "secret", "secrets", "secret_id", "password", "passwords", "passwd", "passwort", "passphrase",
      "passcode", "signature", "signatures", "credential", "credentials", "authorization", "assertion", "jwt", "jwts",
      "cookies", "session_id", "session_ids", "sess_id", "session_key", "session_cookie", "user_session",
      "auth_session", "login_session", "verification_code", "recovery_code", "recovery_codes", "backup_code",
      "backup_codes", "api_key", "api_keys", "access_key", "access_keys", "access_key_id", "private_key", "secret_key",
      "secret_key_base", "shared_key", "subscription_key", "application_key", "account_key", "master_key",
      "functions_key", "signing_key", "encryption_key",
    ])

  /// A policy that hides only user names and passwords in URLs.
  public static let none = Redaction(headers: [], fields: [])

  /// The text that replaces a hidden value.
  public static let mark = "<redacted>"

  private mutating func updateNames() { names = SecretNames(fields, parts: fragments, endings: endings) }

  /// Whether values with this name can be hidden.
  package func isSecret(_ name: some StringProtocol) -> Bool { kind(of: name) != .plain }

  func kind(of name: some StringProtocol) -> SecretKind { names.kind(of: Array(name.utf8)) }

  /// Whether the value at this path in a JSON body is hidden, or is inside a hidden value.
  func hidesValue(at place: [any CodingKey]) -> Bool {
    var places = places
    for key in place where key.place == nil && !places.isEmpty {
      places = places.within(key.stringValue)
      if places.isReached { return true }
    }
    return false
  }

  /// Returns the URL without its user name and password, and with the values of secret names in its query and fragment
  /// hidden.
  public func callAsFunction(_ url: URL) -> String { self(address: url.absoluteString) }

  /// Redacts text that may be a URL.
  package func callAsFunction(address text: String) -> String { names.clears(text) ? text : inFull(address: text) }

  /// Redacts text that may be a URL, without a quick check first.
  func inFull(address text: String) -> String {
    guard text.utf8.contains(where: { "@=?#%".utf8.contains($0) }) else { return text }
    if let hidden = hidingOddUser(in: text) { return inFull(address: hidden) }
    let whole = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
    let parts = (whole.first ?? "").split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    var result = hidingUser(in: parts.first ?? "")
    if parts.count == 2 { result += "?" + pairs(parts[1]) }
    if whole.count == 2 { result += "#" + pairs(whole[1]) }
    return result
  }

  /// Returns text with user names and passwords in URLs hidden, and the values of secret names hidden wherever they
  /// occur.
  package func callAsFunction(text: String) -> String { names.clears(text) ? text : inFull(text: text) }

  func inFull(text: String) -> String { shown(text, depth: 0) }

  /// Returns text with only the secrets in its URLs hidden. For the library's own messages, which mention secret names.
  func hidingInURLs(of text: String) -> String {
    var (shown, rest) = ("", text[...])
    while let colon = rest.firstRange(of: "://") {
      let scheme = rest[..<colon.lowerBound].reversed().prefix { $0.isLetter || $0.isNumber || "+.-".contains($0) }
      let start = rest.index(colon.lowerBound, offsetBy: -scheme.count)
      var end = colon.upperBound
      while end < rest.endIndex, !Self.endsURL(rest, at: end) {
        end = rest.index(end, offsetBy: rest[end] == "<" ? Self.mark.count : 1)
      }
      shown += rest[..<start] + self(address: String(rest[start..<end]))
      rest = rest[end...]
    }
    return shown + rest
  }

  func shown(_ text: String, depth: Int, level: Int = 0) -> String {
    guard text.utf8.contains(where: { "@=:<%\\".utf8.contains($0) }) else { return text }
    var redactor = TextRedactor(text, redaction: self, depth: depth, level: level)
    return redactor.redacted()
  }

  /// Whether the URL ends at `place`. An apostrophe can be part of a URL, as in `$filter=name eq 'x'&sig=…`.
  private static func endsURL(_ text: Substring, at place: String.Index) -> Bool {
    switch text[place] {
    case "<": !text[place...].hasPrefix(mark)
    case "'":
      text[text.index(after: place)...].drop { ",.:;!?)".contains($0) }.first.map { $0.isWhitespace } ?? true
    case let character: " \n\t\"`\\>".contains(character)
    }
  }

  package func hiding(_ fields: Set<HTTPHeaderName>) -> Redaction {
    guard !fields.isEmpty else { return self }
    var redaction = self
    redaction.credentials.formUnion(fields)
    return redaction
  }

  package func hidesSame(as other: Redaction) -> Bool {
    headers == other.headers && fields == other.fields && fragments == other.fragments
      && endings == other.endings && paths == other.paths && bodies == other.bodies && credentials == other.credentials
  }

  var hidesPlaces: Bool { !places.isEmpty }

  /// Whether only user names and passwords in URLs are hidden.
  var hidesNothing: Bool {
    names.isEmpty && headers.isEmpty && credentials.isEmpty && places.isEmpty && types.isEmpty
  }

  /// Hides a user name and password if the password contains a URL delimiter, as in `https://me:pass#word@host`, where
  /// `#` does not begin a fragment. Returns `nil` if the text contains no such password.
  private func hidingOddUser(in text: String) -> String? {
    guard let start = text.firstRange(of: "//")?.upperBound, text[start...].first != "[" else { return nil }
    let user = text[start...].prefix { $0 != "@" }
    guard user.endIndex < text.endIndex, let colon = user.firstIndex(of: ":") else { return nil }
    let password = user[user.index(after: colon)...]
    // A port consists of digits only.
    guard !user[..<colon].contains(where: { "/?#\\".contains($0) }),
      !password.prefix(while: { !"/?#\\".contains($0) }).isPort,
      password.contains(where: { "/?#\\".contains($0) })
    else { return nil }
    return text[..<start] + Self.mark + text[user.endIndex...]
  }

  /// Returns the scheme, authority and path, with the user name hidden. Text without a scheme can be just an authority.
  private func hidingUser(in text: Substring) -> String {
    let start = text.firstRange(of: "//")?.upperBound ?? text.startIndex
    let authority = text[start...].prefix { $0 != "/" && $0 != "\\" }
    let path = text[authority.endIndex...]
    // The path may contain a `name=value` pair or another URL.
    let isSearched = path.utf8.contains(UInt8(ascii: "=")) || path.contains("://")
    let shownPath = hidingEscapedURLs(in: isSearched ? inFull(text: String(path))[...] : path)
    guard let at = authority.lastIndex(of: "@") else { return text[..<authority.endIndex] + shownPath }
    return text[..<start] + Self.mark + authority[at...] + shownPath
  }

  /// Hides the segments of a path that contain an escaped URL with a secret. If the URL spans several segments, hides
  /// everything from the first escaped segment on.
  private func hidingEscapedURLs(in path: Substring) -> String {
    guard Self.hasEscapedURL(path) else { return String(path) }
    var segments = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    for index in segments.indices where Self.hasEscapedURL(segments[index][...]) {
      if holdsSecret(segments[index][...], depth: 0) { segments[index] = Self.mark }
    }
    let shown = segments.joined(separator: "/")
    guard Self.hasEscapedURL(shown[...]), holdsSecret(shown[...], depth: 0),
      let first = segments.firstIndex(where: { $0.utf8.contains(UInt8(ascii: "%")) })
    else { return shown }
    return (segments[..<first] + [Self.mark]).joined(separator: "/")
  }

  private static func hasEscapedURL(_ text: Substring) -> Bool {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return false }
    var plain = String(text)
    for _ in 0..<4 {
      plain = plain.percentDecodedAsFarAsPossible
      if plain.contains("://") { return true }
    }
    return false
  }

  /// Returns `name=value` pairs with the values of secret names hidden, including values that contain such pairs
  /// themselves.
  func pairs(_ text: Substring) -> String {
    func isSecret(_ name: some StringProtocol, _ value: Substring) -> Bool {
      kind(of: name).hidesParameter(value.utf8, ExchangeSigns(text.utf8))
    }
    return text.split(separator: "&", omittingEmptySubsequences: false).map { pair in
      let name = pair.prefix { $0 != "=" }
      let plainName = Self.unescaped(name)
      // A name with delimiters may contain the value.
      let isHidden = holdsSecret(name, depth: 0)
      let value = pair.dropFirst(name.count + 1)
      if isSecret(plainName, value) || isSecret(plainName.behindRoute, value) {
        return plainName.isPlainName && !isHidden ? "\(name)=\(Self.mark)" : Self.mark
      }
      if isHidden { return Self.mark }
      return holdsSecret(value, depth: 0) ? "\(name)=\(Self.mark)" : String(pair)
    }.joined(separator: "&")
  }

  /// Whether an escaped value contains a secret, for example in a URL. `depth` is the number of enclosing values.
  func holdsSecret(_ value: Substring, depth: Int, level: Int = 0) -> Bool {
    // Limit the depth: the sender controls it, and each level costs four passes.
    guard depth < 2, value.utf8.contains(where: { "%@=:<\\".utf8.contains($0) }) else { return false }
    var plain = String(value)
    for _ in 0..<4 {  // a value that is escaped more often is treated as a secret
      if shown(plain, depth: depth + 1, level: level) != plain { return true }
      let next = plain.percentDecodedAsFarAsPossible
      if next == plain { return false }
      plain = next
    }
    return true
  }

  package static func unescaped(_ name: Substring) -> String {
    name.replacing("+", with: " ").percentDecoded ?? String(name)
  }
}

extension StringProtocol {
  fileprivate var isPort: Bool { !isEmpty && utf8.allSatisfy { (0x30...0x39).contains($0) } }
}

extension String {
  /// The text with invisible characters replaced by spaces, so that line breaks, escape sequences and direction changes
  /// can't get into a log.
  package var onOneLine: String {
    guard unicodeScalars.contains(where: \.isInternal) else { return self }
    var line = String.UnicodeScalarView()
    for scalar in unicodeScalars { line.append(scalar.isInternal ? " " : scalar) }
    return String(line)
  }

  /// The text with invisible characters other than line breaks and tabs replaced by spaces, so that escape sequences
  /// can't reach a terminal.
  var onLines: String {
    guard unicodeScalars.contains(where: { $0.isInternal && $0 != "\n" && $0 != "\t" }) else { return self }
    var text = String.UnicodeScalarView()
    for scalar in unicodeScalars where scalar != "\r" {
      text.append(scalar.isInternal && scalar != "\n" && scalar != "\t" ? " " : scalar)
    }
    return String(text)
  }

  var beginsAsJSON: Bool { first { !$0.isWhitespace }.map { "{[".contains($0) } ?? false }

  /// The text after the last URL delimiter, such as `code` in `/cb?code`, which can be the start of a fragment.
  fileprivate var behindRoute: Substring {
    utf8.lastIndex { "?/;#".utf8.contains($0) }.map { self[utf8.index(after: $0)...] } ?? ""
  }

  fileprivate var isPlainName: Bool { !utf8.contains { "=:{<\"'".utf8.contains($0) } }
}

extension Unicode.Scalar {
  fileprivate var isInternal: Bool {
    if value >= 0x20 && value < 0x7F { return false }
    return switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}
