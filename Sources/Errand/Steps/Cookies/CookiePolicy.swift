/// The cookies that requests send, and the place for those that responses set.
///
///     await shop.update { $0.cookiePolicy = .shared(jar) }
///     let page = try await GetWidget(id: 7).cookies(.none).download()
///
/// A `Cookie` field that a task, a preflight or a step sets is sent as it is, whatever the policy.
public struct CookiePolicy: Sendable {
  enum Kind {
    case inherited, perServer, none
    case shared(CookieJar)
    case sending([(name: String, value: String)])
  }

  let kind: Kind

  /// As the server says.
  public static let inherited = CookiePolicy(kind: .inherited)

  /// Those of a jar in memory that the server has for itself: ``Server/cookieJar``.
  public static let perServer = CookiePolicy(kind: .perServer)

  /// Those of a jar that others may use too, or that is kept in a file.
  public static func shared(_ jar: CookieJar = .shared) -> CookiePolicy { CookiePolicy(kind: .shared(jar)) }

  /// None: nothing is sent, and nothing is kept.
  public static let none = CookiePolicy(kind: .none)

  /// These and none of a jar; nothing is kept. A redirect that leaves the origin does not take them along, and those of a server
  /// go to its remote's origin and the `trustedOrigins` alone, as its header fields do.
  ///
  /// A name must be a token and a value have no blank, comma, semicolon or quotation mark (RFC 6265bis §4.1.1); the call fails
  /// otherwise, with code `.badRequest`.
  public static func sending(_ cookies: KeyValuePairs<String, String>) -> CookiePolicy {
    CookiePolicy(kind: .sending(cookies.map { ($0.key, $0.value) }))
  }
}

extension CookiePolicy {
  /// True where it is left to the server.
  var isInherited: Bool {
    if case .inherited = kind { true } else { false }
  }

  /// True where others may have its jar too.
  var isShared: Bool {
    if case .shared = kind { true } else { false }
  }

  /// True where it has cookies of its own to send.
  var statesCookies: Bool {
    if case .sending = kind { true } else { false }
  }

  /// The jar of a policy; nil where it has none.
  func jar(own: CookieJar) -> CookieJar? {
    switch kind {
    case .inherited, .perServer: own
    case .shared(let jar): jar
    case .none, .sending: nil
    }
  }

  /// The line of `Cookie` that it states; nil where it states none.
  /// Throws ``TaskError`` for a name or a value that would not arrive as it is.
  func statedLine() throws(TaskError) -> String? {
    guard case .sending(let cookies) = kind, !cookies.isEmpty else { return nil }
    for cookie in cookies {
      guard HTTPHeaderName(cookie.name).isValid, cookie.value.hasOnlyBytes(where: Self.isCookieByte) else {
        throw TaskError(
          .badRequest,
          "the cookie \(cookie.name.shortened.debugDescription) of cookiePolicy has a name that is no token, or a value with a blank, a comma, a semicolon, a quotation mark or a letter beyond ASCII: escape it",
          phase: .preparing, isSurelyNotSent: true)
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
