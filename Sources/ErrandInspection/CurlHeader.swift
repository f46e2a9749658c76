import Errand
import ErrandFoundation

/// A `curl` command's header fields.
struct CurlHeader {
  typealias Refusal = ShellWords.Refusal

  /// The fields from `--header`.
  private var stated = HTTPHeaders()
  /// The fields set by other options. A `--header` with the same name takes precedence, regardless of the order.
  private var implied = HTTPHeaders()
  /// The fields that curl must not add.
  private var unwanted: Set<HTTPHeaderName> = []

  var fields: HTTPHeaders {
    var fields = stated
    for field in implied where !unwanted.contains(field.name) { fields.setDefault(field.value, for: field.name) }
    return fields
  }

  /// Adds a `--header` value: `Name: value`, `Name;` for an empty value, or `Name:` to remove a field.
  mutating func add(line: String) throws(Refusal) {
    if line.hasPrefix("@") { throw Refusal(reason: "header files are not supported: pass the fields themselves") }
    // Compare scalars: a combining mark after the colon would merge with it into one character.
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

  /// Returns the first word of a line that has no colon. Anything after it may be a secret.
  private static func name(of line: String) -> Substring { line.prefix { $0 != " " && $0 != "\t" } }

  mutating func set(_ name: HTTPHeaderName, _ value: String) { implied[name] = value }

  /// Sets a field, or removes it if the value is empty.
  mutating func setOrOmit(_ name: HTTPHeaderName, _ value: String) {
    if value.isEmpty { unwanted.insert(name) } else { set(name, value) }
  }

  mutating func add(cookies: String) throws(Refusal) {
    guard cookies.contains("=") else {
      throw Refusal(reason: "the cookie file '\(cookies)' is not supported: pass the cookies themselves")
    }
    implied[.cookie] = [implied[.cookie], cookies].compactMap { $0 }.joined(separator: "; ")
  }

  /// Sets basic authentication (RFC 7617). Replaces earlier basic credentials, but not a token.
  mutating func set(user: [UInt8]) {
    if implied[.authorization]?.hasPrefix("Basic ") == true { implied.remove(.authorization) }
    signIn(user)
  }

  /// Sets basic authentication unless an option has set other credentials.
  private mutating func signIn(_ user: [UInt8]) {
    let credential = user.contains(UInt8(ascii: ":")) ? user : user + [UInt8(ascii: ":")]
    implied.setDefault("Basic \(Data(credential).base64EncodedString())", for: .authorization)
  }

  /// Sets a field unless the command sets or removes it.
  mutating func setDefault(_ field: HTTPHeaders.Field) {
    implied.setDefault(field.value, for: field.name)
  }

  /// Parses a URL as curl does: the default scheme is http, and a user name in the URL is used for authentication.
  mutating func url(_ text: String) throws(Refusal) -> URL {
    let address = text.contains("://") ? text : "http://\(text)"
    guard var parts = URLComponents(string: address), let scheme = parts.scheme?.lowercased(),
      parts.host?.isEmpty == false
    else { throw Refusal(reason: "'\(text)' is not a URL") }
    guard scheme == "http" || scheme == "https" else {
      throw Refusal(reason: "the scheme '\(scheme)' is not supported: use https")
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
