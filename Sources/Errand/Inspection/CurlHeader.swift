import ErrandFoundation

/// The header fields of a `curl` command, under those that curl adds by itself.
struct CurlHeader {
  typealias Refusal = ShellWords.Refusal

  /// The fields that lines state.
  private var stated = HTTPHeaders()
  /// The fields that options make; a line of that name takes their place, wherever it stands.
  private var implied = HTTPHeaders()
  /// The fields that curl would add by itself, and is told not to.
  private var unwanted: Set<HTTPHeaderName> = []

  /// All of them, as they are sent.
  var fields: HTTPHeaders {
    var fields = stated
    for field in implied where !unwanted.contains(field.name) { fields.setDefault(field.value, for: field.name) }
    return fields
  }

  /// Adds a line: `Name: value`, `Name;` for an empty value, `Name:` for a field that is not to be sent.
  mutating func add(line: String) throws(Refusal) {
    if line.hasPrefix("@") { throw Refusal(reason: "a file with header fields is not read: write them") }
    // Sign by sign: a combining mark would make another character of the colon or the blank before it.
    let signs = line.unicodeScalars
    guard let end = signs.firstIndex(where: { $0 == ":" || $0 == ";" }) else {
      throw Refusal(reason: "the header '\(Self.name(of: line))' has no colon")
    }
    let name = HTTPHeaderName(String(signs[..<end]))
    let value = signs[signs.index(after: end)...].drop { $0 == " " || $0 == "\t" }
    if signs[end] == ";" {
      guard value.isEmpty else { throw Refusal(reason: "the header '\(name)' has no colon") }
      stated.add("", for: name)
    } else if value.isEmpty {
      unwanted.insert(name)
    } else {
      stated.add(String(value), for: name)
    }
  }

  /// The beginning of a line that has no colon: what follows a blank may be a secret.
  private static func name(of line: String) -> Substring { line.prefix { $0 != " " && $0 != "\t" } }

  mutating func set(_ name: HTTPHeaderName, _ value: String) { implied[name] = value }

  /// Sets a field, or has it not sent where the value is empty.
  mutating func setOrOmit(_ name: HTTPHeaderName, _ value: String) {
    if value.isEmpty { unwanted.insert(name) } else { set(name, value) }
  }

  /// Adds cookies.
  mutating func add(cookies: String) throws(Refusal) {
    guard cookies.contains("=") else {
      throw Refusal(reason: "the file '\(cookies)' with cookies is not read: write them")
    }
    implied[.cookie] = [implied[.cookie], cookies].compactMap { $0 }.joined(separator: "; ")
  }

  /// Signs in by a user and a password (RFC 7617), in the place of others that were stated, and not in that of a token.
  mutating func set(user: [UInt8]) {
    if implied[.authorization]?.hasPrefix("Basic ") == true { implied.remove(.authorization) }
    signIn(user)
  }

  /// Signs in, unless something is stated by which.
  private mutating func signIn(_ user: [UInt8]) {
    let credential = user.contains(UInt8(ascii: ":")) ? user : user + [UInt8(ascii: ":")]
    implied.setDefault("Basic \(Data(credential).base64EncodedString())", for: .authorization)
  }

  /// Sets a field that the command implies, unless it states another or none.
  mutating func setDefault(_ field: HTTPHeaders.Field) {
    implied.setDefault(field.value, for: field.name)
  }

  /// The URL of a text as curl reads it: http where it names no scheme. A user in it signs in.
  mutating func url(_ text: String) throws(Refusal) -> URL {
    let address = text.contains("://") ? text : "http://\(text)"
    guard var parts = URLComponents(string: address), let scheme = parts.scheme?.lowercased(),
      parts.host?.isEmpty == false
    else { throw Refusal(reason: "'\(text)' is not a URL") }
    guard scheme == "http" || scheme == "https" else {
      throw Refusal(reason: "'\(scheme)' is not supported: use https")
    }
    if let user = parts.user {
      signIn(Array("\(user):\(parts.password ?? "")".utf8))
      (parts.user, parts.password) = (nil, nil)
    } else {
      guard let url = URL(string: address) else { throw Refusal(reason: "'\(text)' is not a URL") }
      return url
    }
    guard let url = parts.url else { throw Refusal(reason: "'\(text)' is not a URL") }
    return url
  }
}
