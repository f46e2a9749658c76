/// A response status (RFC 9110 §15). The set is open: any three-digit code is one.
public struct HTTPStatus: Hashable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
  /// The code, 100 to 999.
  public let code: Int

  /// A status by its code.
  public init(_ code: Int) { self.code = code }

  /// A status by its code.
  public init(integerLiteral value: Int) { code = value }

  /// The class of a status, by its first digit.
  public enum Kind: Int, Sendable {
    /// 1xx: the final response is still to come.
    case informational = 1
    /// 2xx.
    case success
    /// 3xx.
    case redirection
    /// 4xx: the request is at fault.
    case clientError
    /// 5xx: the server is at fault.
    case serverError
  }

  /// The class of the status; nil for a code outside 100 to 599.
  public var kind: Kind? { Kind(rawValue: code / 100) }

  /// True where a call takes it for success unless it says otherwise: 2xx, or 304, which answers a condition.
  public var isAccepted: Bool { kind == .success || code == 304 }

  /// The code and its usual phrase: `404 Not Found`.
  public var description: String {
    Self.descriptions.indices.contains(code) ? Self.descriptions[code] : String(code)
  }

  /// By code. The record of a call says its status several times.
  private static let descriptions = (0..<600).map { code in phrases[code].map { "\(code) \($0)" } ?? String(code) }

  /// The phrase that RFC 9110 gives the code; empty for one that it does not name.
  public var phrase: String { Self.phrases[code] ?? "" }

  private static let phrases: [Int: String] = [
    100: "Continue", 101: "Switching Protocols", 103: "Early Hints",
    200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content",
    205: "Reset Content", 206: "Partial Content",
    300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
    307: "Temporary Redirect", 308: "Permanent Redirect",
    400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
    405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required", 408: "Request Timeout",
    409: "Conflict", 410: "Gone", 411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large",
    414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable", 417: "Expectation Failed",
    421: "Misdirected Request", 422: "Unprocessable Content", 425: "Too Early", 426: "Upgrade Required",
    428: "Precondition Required", 429: "Too Many Requests", 431: "Request Header Fields Too Large",
    451: "Unavailable For Legal Reasons",
    500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
    504: "Gateway Timeout", 505: "HTTP Version Not Supported", 507: "Insufficient Storage",
    511: "Network Authentication Required",
  ]
}

extension HTTPStatus: Codable {
  /// A status by its code, a number.
  public init(from decoder: any Decoder) throws { code = try decoder.singleValueContainer().decode(Int.self) }

  /// Writes the code, a number.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(code)
  }
}

extension HTTPStatus {
  /// 200.
  public static let ok: HTTPStatus = 200
  /// 201.
  public static let created: HTTPStatus = 201
  /// 202: it will be done later.
  public static let accepted: HTTPStatus = 202
  /// 204.
  public static let noContent: HTTPStatus = 204
  /// 206: a part of the requested content.
  public static let partialContent: HTTPStatus = 206
  /// 301.
  public static let movedPermanently: HTTPStatus = 301
  /// 302.
  public static let found: HTTPStatus = 302
  /// 303: the answer is at another URL, for a GET.
  public static let seeOther: HTTPStatus = 303
  /// 304: the copy that the client holds is still good.
  public static let notModified: HTTPStatus = 304
  /// 307: the same request, to another URL.
  public static let temporaryRedirect: HTTPStatus = 307
  /// 308: the same request, to another URL from now on.
  public static let permanentRedirect: HTTPStatus = 308
  /// 400.
  public static let badRequest: HTTPStatus = 400
  /// 401: credentials are missing or refused.
  public static let unauthorized: HTTPStatus = 401
  /// 403: refused, whatever the credentials.
  public static let forbidden: HTTPStatus = 403
  /// 404.
  public static let notFound: HTTPStatus = 404
  /// 407: the proxy asks for credentials.
  public static let proxyAuthenticationRequired: HTTPStatus = 407
  /// 408: the server waited too long for the request.
  public static let requestTimeout: HTTPStatus = 408
  /// 409: the state of the resource is in the way.
  public static let conflict: HTTPStatus = 409
  /// 410: it is no more.
  public static let gone: HTTPStatus = 410
  /// 412: a condition of the request does not hold.
  public static let preconditionFailed: HTTPStatus = 412
  /// 413.
  public static let contentTooLarge: HTTPStatus = 413
  /// 422: the content is well-formed, and cannot be used.
  public static let unprocessableContent: HTTPStatus = 422
  /// 429.
  public static let tooManyRequests: HTTPStatus = 429
  /// 500.
  public static let internalServerError: HTTPStatus = 500
  /// 502.
  public static let badGateway: HTTPStatus = 502
  /// 503.
  public static let serviceUnavailable: HTTPStatus = 503
  /// 504.
  public static let gatewayTimeout: HTTPStatus = 504
}
