/// The cookies that requests send, and the jar for cookies that responses set.
///
///     await shop.update { $0.cookiePolicy = .shared(jar) }
///     let page = try await GetWidget(id: 7).cookies(.none).send()
///
/// A `Cookie` header set by a task, a preflight or a step is sent as is, regardless of the policy.
public struct CookiePolicy: Sendable, CustomStringConvertible, CustomReflectable {
  enum Kind {
    case inherited, perServer, none
    case shared(CookieJar)
    case sending([(name: String, value: String)])
  }

  let kind: Kind

  /// Uses the server's policy.
  public static let inherited = CookiePolicy(kind: .inherited)

  /// Uses the server's own in-memory jar: ``Server/cookieJar``.
  public static let perServer = CookiePolicy(kind: .perServer)

  /// Uses a jar that can be shared or stored in a file.
  public static func shared(_ jar: CookieJar = .shared) -> CookiePolicy { CookiePolicy(kind: .shared(jar)) }

  /// Doesn't send or store cookies.
  public static let none = CookiePolicy(kind: .none)

  /// Sends these cookies instead of the cookies in a jar. Cookies in responses are not stored. After a redirect to
  /// another origin, the cookies are no longer sent. A server's cookies are only sent to the origin of its remote and
  /// to its `trustedOrigins`, like its header fields.
  ///
  /// A name must be a token. A value must be ASCII without whitespace, commas, semicolons, quotation marks or
  /// backslashes (RFC 6265bis §4.1.1). Otherwise, the call fails with code `.badRequest`.
  public static func sending(_ cookies: KeyValuePairs<String, String>) -> CookiePolicy {
    CookiePolicy(kind: .sending(cookies.map { ($0.key, $0.value) }))
  }

  /// The policy's name, without the cookies.
  public var description: String {
    switch kind {
    case .inherited: "inherited"
    case .perServer: "perServer"
    case .none: "none"
    case .shared: "shared"
    case .sending(let cookies): "sending(\(cookies.map(\.name).joined(separator: ", ")))"
    }
  }

  /// Hides the cookies from `dump`.
  public var customMirror: Mirror { Mirror(self, children: ["policy": description]) }
}

extension CookiePolicy {
  var isInherited: Bool {
    if case .inherited = kind { true } else { false }
  }

  package var isShared: Bool {
    if case .shared = kind { true } else { false }
  }

  package var statesCookies: Bool {
    if case .sending = kind { true } else { false }
  }

  func jar(own: CookieJar) -> CookieJar? {
    switch kind {
    case .inherited, .perServer: own
    case .shared(let jar): jar
    case .none, .sending: nil
    }
  }

  /// Returns the `Cookie` header with the policy's own cookies, if any. Throws ``TaskError`` if a name or a value is
  /// invalid.
  func statedLine() throws(TaskError) -> String? {
    guard case .sending(let cookies) = kind, !cookies.isEmpty else { return nil }
    for cookie in cookies {
      guard HTTPHeaderName(cookie.name).isValid, cookie.value.hasOnlyBytes(where: Self.isCookieByte) else {
        throw TaskError(
          .badRequest,
          "the cookie \(cookie.name.shortened.debugDescription) in cookiePolicy is invalid: its name is not a token, or its value contains a space, a comma, a semicolon, a quotation mark or a non-ASCII character; escape it",
          phase: .preparing, wasNotSent: true)
      }
    }
    return cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
  }

  // cookie-octet = %x21 / %x23-2B / %x2D-3A / %x3C-5B / %x5D-7E
  private static func isCookieByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x21, 0x23...0x2B, 0x2D...0x3A, 0x3C...0x5B, 0x5D...0x7E: true
    default: false
    }
  }
}
