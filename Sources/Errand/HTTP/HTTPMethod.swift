/// A request method (RFC 9110 §9). The set is open: `HTTPMethod("PURGE")` is one too.
public struct HTTPMethod: RawRepresentable, Codable, Hashable, Sendable, ExpressibleByStringLiteral,
  CustomStringConvertible
{
  /// The method as it is sent, in its own case: methods are case-sensitive.
  public let rawValue: String

  /// A method by its name on the wire.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A method by its name on the wire.
  public init(_ name: String) { self.init(rawValue: name) }

  /// A method by its name on the wire.
  public init(stringLiteral value: String) { self.init(rawValue: value) }

  /// The name on the wire.
  public var description: String { self == .automatic ? "automatic" : rawValue }

  /// Not a method but its absence: GET without a body, POST with one.
  public static let automatic = HTTPMethod("")

  /// CONNECT; refused as a request of its own, for it is meant for proxies.
  public static let connect = HTTPMethod("CONNECT")
  /// DELETE.
  public static let delete = HTTPMethod("DELETE")
  /// GET.
  public static let get = HTTPMethod("GET")
  /// HEAD.
  public static let head = HTTPMethod("HEAD")
  /// OPTIONS.
  public static let options = HTTPMethod("OPTIONS")
  /// PATCH (RFC 5789).
  public static let patch = HTTPMethod("PATCH")
  /// POST.
  public static let post = HTTPMethod("POST")
  /// PUT.
  public static let put = HTTPMethod("PUT")
  /// QUERY: safe and idempotent, with a body.
  public static let query = HTTPMethod("QUERY")
  /// TRACE.
  public static let trace = HTTPMethod("TRACE")

  /// True where the method only reads (RFC 9110 §9.2.1).
  public var isSafe: Bool {
    self == .get || self == .head || self == .options || self == .trace || self == .query
  }

  /// True where sending it twice means the same as sending it once (RFC 9110 §9.2.2).
  public var isIdempotent: Bool { isSafe || self == .put || self == .delete }

  /// True where parameters are content of the request: for methods whose content has a meaning (RFC 9110 §9.3), and those that are
  /// not known.
  var sendsParametersInBody: Bool {
    switch self {
    case .automatic, .get, .head, .delete, .options, .trace, .connect: false
    default: true
    }
  }

  /// True when the method is a token (RFC 9110 §5.6.2), so that it can be written into a request line.
  public var isValid: Bool { !rawValue.isEmpty && rawValue.hasOnlyBytes(where: HTTPHeaderName.isTokenByte) }
}
