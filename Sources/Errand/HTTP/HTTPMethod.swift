/// A request method (RFC 9110 §9). Custom methods such as `HTTPMethod("PURGE")` are allowed.
public struct HTTPMethod: RawRepresentable, Codable, Hashable, Sendable, ExpressibleByStringLiteral,
  CustomStringConvertible
{
  /// The method as it is sent. Methods are case-sensitive.
  public let rawValue: String

  /// Creates a method from its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates a method from its name.
  public init(_ name: String) { self.init(rawValue: name) }

  /// Creates a method from its name.
  public init(stringLiteral value: String) { self.init(rawValue: value) }

  /// The name of the method, or `automatic`.
  public var description: String { self == .automatic ? "automatic" : rawValue }

  /// No explicit method: GET without a body, POST with a body.
  public static let automatic = HTTPMethod("")

  /// CONNECT. Reserved for proxies: requests with this method are rejected.
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

  /// Whether the method is safe: it only reads (RFC 9110 §9.2.1).
  public var isSafe: Bool {
    self == .get || self == .head || self == .options || self == .trace || self == .query
  }

  /// Whether sending the request twice has the same effect as sending it once (RFC 9110 §9.2.2).
  public var isIdempotent: Bool { isSafe || self == .put || self == .delete }

  /// Whether parameters are sent in the body, as for methods with defined content semantics (RFC 9110 §9.3) and for
  /// unknown methods.
  var sendsParametersInBody: Bool {
    switch self {
    case .automatic, .get, .head, .delete, .options, .trace, .connect: false
    default: true
    }
  }

  /// Whether the method is a token (RFC 9110 §5.6.2) that is valid in a request line.
  public var isValid: Bool { !rawValue.isEmpty && rawValue.hasOnlyBytes(where: HTTPHeaderName.isTokenByte) }
}
