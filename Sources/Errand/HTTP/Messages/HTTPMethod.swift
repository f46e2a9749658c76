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

  /// No explicit method. Requests are sent as GET without a body and as POST with a body.
  public static let automatic = HTTPMethod("")

  /// The CONNECT method. It is reserved for proxies, so requests with this method are rejected.
  public static let connect = HTTPMethod("CONNECT")
  /// The DELETE method.
  public static let delete = HTTPMethod("DELETE")
  /// The GET method.
  public static let get = HTTPMethod("GET")
  /// The HEAD method.
  public static let head = HTTPMethod("HEAD")
  /// The OPTIONS method.
  public static let options = HTTPMethod("OPTIONS")
  /// The PATCH method (RFC 5789).
  public static let patch = HTTPMethod("PATCH")
  /// The POST method.
  public static let post = HTTPMethod("POST")
  /// The PUT method.
  public static let put = HTTPMethod("PUT")
  /// The QUERY method, which is safe and idempotent, and has a body.
  public static let query = HTTPMethod("QUERY")
  /// The TRACE method.
  public static let trace = HTTPMethod("TRACE")

  /// Whether the method is safe, which means that it only reads (RFC 9110 §9.2.1).
  public var isSafe: Bool {
    self == .get || self == .head || self == .options || self == .trace || self == .query
  }

  /// Whether sending the request twice has the same effect as sending it once (RFC 9110 §9.2.2).
  public var isIdempotent: Bool { isSafe || self == .put || self == .delete }

  /// Whether parameters are sent in the body. This applies to methods for which content has defined semantics (RFC 9110
  /// §9.3), and to unknown methods.
  var sendsParametersInBody: Bool {
    switch self {
    case .automatic, .get, .head, .delete, .options, .trace, .connect: false
    default: true
    }
  }

  /// Whether the method is a token (RFC 9110 §5.6.2) that is valid in a request line.
  public var isValid: Bool { !rawValue.isEmpty && rawValue.hasOnlyBytes(where: HTTPHeaderName.isTokenByte) }
}
