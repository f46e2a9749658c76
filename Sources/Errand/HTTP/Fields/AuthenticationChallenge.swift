/// An authentication challenge that a server sends with a 401, such as `Bearer realm="shop", error="invalid_token"`
/// (RFC 9110 §11.6.1).
///
///     for challenge in error.headers.challenges where challenge.isScheme("Bearer") { … challenge["error"] … }
public struct AuthenticationChallenge: Sendable, Hashable, CustomStringConvertible {
  /// A parameter of a challenge.
  public struct Parameter: Sendable, Hashable {
    /// The name as it was sent. Names are case-insensitive.
    public let name: String
    /// The value, unquoted and unescaped.
    public let value: String
  }

  /// The scheme as it was sent, such as `Basic`, `Bearer` or `Digest`. Schemes are case-insensitive.
  public let scheme: String
  /// The token that schemes such as `Negotiate` send instead of parameters, or `nil` for other schemes.
  public fileprivate(set) var token68: String?
  /// The parameters, in order. If a name is repeated, the first one is kept (RFC 9110 §11.2).
  public fileprivate(set) var parameters: [Parameter] = []

  fileprivate init(scheme: String) { self.scheme = scheme }

  /// Whether the scheme has this name, ignoring case.
  public func isScheme(_ name: String) -> Bool { HTTPHeaderName(scheme) == HTTPHeaderName(name) }

  /// The value of a parameter, or `nil` if it is missing. The name is case-insensitive.
  public subscript(_ name: String) -> String? {
    parameters.first { HTTPHeaderName($0.name) == HTTPHeaderName(name) }?.value
  }

  /// The name of the protected area, or `nil` if the challenge has no realm.
  public var realm: String? { self["realm"] }

  /// The challenge in header field syntax.
  public var description: String {
    let list = parameters.map { "\($0.name)=\($0.value.quoted)" }
    return ([scheme] + (token68.map { [$0] } ?? [list.joined(separator: ", ")])).filter { !$0.isEmpty }
      .joined(separator: " ")
  }
}

extension HTTPHeaders {
  /// The challenges in `WWW-Authenticate`, in order. Malformed challenges are omitted.
  public var challenges: [AuthenticationChallenge] { challenges(in: .wwwAuthenticate) }

  /// Returns the challenges in a field such as `Proxy-Authenticate`. Field lines are parsed separately, so a malformed
  /// line doesn't affect the next one.
  public func challenges(in name: HTTPHeaderName) -> [AuthenticationChallenge] {
    values(for: name).flatMap { value in
      var parser = ChallengeParser(value)
      return parser.challenges()
    }
  }
}

/// Parses a list of challenges.
///
/// RFC 9110 §11.6.1: commas separate both challenges and the parameters of a challenge. A token followed by "=" is a
/// parameter of the current challenge; any other token starts a new one.
private struct ChallengeParser {
  private let bytes: [UInt8]
  private var index = 0
  /// The lowercase parameter names of the last challenge. A set keeps parsing linear.
  private var names: Set<String> = []

  init(_ text: String) { bytes = Array(text.utf8) }

  mutating func challenges() -> [AuthenticationChallenge] {
    var result: [AuthenticationChallenge] = []
    // After a malformed member, skip parameters, because their challenge is unknown.
    var isTorn = false
    while skipToMember() {
      if let (name, value) = parameter() {
        // §11.3: a challenge with a token68 has no parameters.
        if !isTorn, result.last?.token68 == nil, !result.isEmpty { add(name, value, to: &result[result.count - 1]) }
      } else if let challenge = challenge() {
        result.append(challenge)
        isTorn = false
      } else {
        isTorn = true
        skipRest()
      }
    }
    return result
  }

  private mutating func challenge() -> AuthenticationChallenge? {
    guard let scheme = token() else { return nil }
    var challenge = AuthenticationChallenge(scheme: scheme)
    names = []
    guard skipBlanks() > 0 || isAtEndOfMember else { return nil }
    if isAtEndOfMember { return challenge }
    if let value = token68() {
      challenge.token68 = value
    } else if let (name, value) = parameter() {
      add(name, value, to: &challenge)
    } else {
      return nil
    }
    return challenge
  }

  private mutating func add(_ name: String, _ value: String, to challenge: inout AuthenticationChallenge) {
    if names.insert(name.lowercased()).inserted { challenge.parameters.append(.init(name: name, value: value)) }
  }

  /// Parses the parameter at the start of the member. Returns `nil` and consumes nothing if the member doesn't start
  /// with a parameter.
  ///
  /// Some servers omit commas, so a parameter also ends at whitespace that is followed by another parameter.
  private mutating func parameter() -> (name: String, value: String)? {
    let start = index
    if let name = nameBeforeEquals() {
      if let value = quoted() {
        if skipToEndOfValue() { return (name, value) }
      } else if let value = bareValue() {
        return (name, value)
      }
    }
    index = start
    return nil
  }

  private mutating func nameBeforeEquals() -> String? {
    guard let name = token() else { return nil }
    skipBlanks()
    guard take(UInt8(ascii: "=")) else { return nil }
    skipBlanks()
    return name
  }

  private mutating func skipToEndOfValue() -> Bool {
    let blanks = skipBlanks()
    if isAtEndOfMember { return true }
    var ahead = self
    return blanks > 0 && ahead.nameBeforeEquals() != nil
  }

  /// Parses an unquoted value. It can be empty or contain bytes that aren't allowed in a token: `realm=dev@host`,
  /// `nonce=a/b+c=`, `qop=`.
  private mutating func bareValue() -> String? {
    // A member such as `abc==` is not a parameter.
    guard index == bytes.count || bytes[index] != UInt8(ascii: "=") else { return nil }
    let start = index
    var end = index
    while !skipToEndOfValue() {
      while !isAtEndOfMember, !Self.isBlank(bytes[index]) { index += 1 }
      end = index
    }
    return String(decoding: bytes[start..<end], as: UTF8.self)
  }

  private mutating func token() -> String? { run { HTTPHeaderName.isTokenByte($0) } }

  // RFC 9110 §11.2: letters, digits and -._~+/, then any number of "=".
  private mutating func token68() -> String? {
    let start = index
    guard run({ HTTPHeaderName.isToken68Byte($0) }) != nil else { return nil }
    while take(UInt8(ascii: "=")) {}
    let value = String(decoding: bytes[start..<index], as: UTF8.self)
    skipBlanks()
    if isAtEndOfMember { return value }
    index = start
    return nil
  }

  private mutating func run(_ isIncluded: (UInt8) -> Bool) -> String? {
    let rest = bytes[index...].prefix(while: isIncluded)
    guard !rest.isEmpty else { return nil }
    index = rest.endIndex
    return String(decoding: rest, as: UTF8.self)
  }

  // RFC 9110 §5.6.4: a backslash escapes the next byte. An unclosed string ends with the line, as in browsers.
  private mutating func quoted() -> String? {
    guard take(UInt8(ascii: "\"")) else { return nil }
    var value: [UInt8] = []
    while index < bytes.count, !take(UInt8(ascii: "\"")) {
      if bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count { index += 1 }
      value.append(bytes[index])
      index += 1
    }
    return String(decoding: value, as: UTF8.self)
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard index < bytes.count, bytes[index] == byte else { return false }
    index += 1
    return true
  }

  private var isAtEndOfMember: Bool { index == bytes.count || bytes[index] == UInt8(ascii: ",") }

  @discardableResult
  private mutating func skipBlanks() -> Int {
    let start = index
    while index < bytes.count, Self.isBlank(bytes[index]) { index += 1 }
    return index - start
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

  /// Advances to the next member, skipping empty ones (RFC 9110 §5.6.1). Returns `false` at the end.
  private mutating func skipToMember() -> Bool {
    repeat { skipBlanks() } while take(UInt8(ascii: ","))
    return index < bytes.count
  }

  /// Skips to the end of the member. Commas in quoted strings don't end it.
  private mutating func skipRest() {
    while !isAtEndOfMember {
      if quoted() == nil { index += 1 }
    }
  }
}

extension HTTPHeaderName {
  fileprivate static func isToken68Byte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "/"):
      true
    default: false
    }
  }
}
