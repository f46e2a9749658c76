/// A response status (RFC 9110 §15). Every three-digit code is allowed.
public struct HTTPStatus: Hashable, Sendable, ExpressibleByIntegerLiteral, CustomStringConvertible {
  /// The code, from 100 to 999.
  public let code: Int

  /// Creates a status from its code.
  public init(_ code: Int) { self.code = code }

  /// Creates a status from its code.
  public init(integerLiteral value: Int) { code = value }

  /// The class of a status, which is its first digit.
  public enum Kind: Int, Sendable {
    /// 1xx: an interim response, before the final one.
    case informational = 1
    /// 2xx.
    case success
    /// 3xx.
    case redirection
    /// 4xx: the request caused the error.
    case clientError
    /// 5xx: the server caused the error.
    case serverError
  }

  /// The class of the status, or `nil` for a code outside 100 to 599.
  public var kind: Kind? { Kind(rawValue: code / 100) }

  /// Whether a call treats the status as success by default: 2xx, or 304 for a conditional request.
  public var isAccepted: Bool { kind == .success || code == 304 }

  /// The code and its reason phrase, such as `404 Not Found`.
  public var description: String {
    Self.descriptions.indices.contains(code) ? Self.descriptions[code] : String(code)
  }

  /// Precomputed, because each call's record uses descriptions several times.
  private static let descriptions = (0..<600).map { code in phrases[code].map { "\(code) \($0)" } ?? String(code) }

  /// The standard reason phrase. Empty if the code has none.
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
  /// Decodes the code as a number.
  public init(from decoder: any Decoder) throws { code = try decoder.singleValueContainer().decode(Int.self) }

  /// Encodes the code as a number.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(code)
  }
}

extension HTTPStatus {
  /// 200 OK.
  public static let ok: HTTPStatus = 200
  /// 201 Created.
  public static let created: HTTPStatus = 201
  /// 202 Accepted: the request will be processed later.
  public static let accepted: HTTPStatus = 202
  /// 204 No Content.
  public static let noContent: HTTPStatus = 204
  /// 206 Partial Content: only the requested range of the content.
  public static let partialContent: HTTPStatus = 206
  /// 301 Moved Permanently.
  public static let movedPermanently: HTTPStatus = 301
  /// 302 Found.
  public static let found: HTTPStatus = 302
  /// 303 See Other: the result is at another URL, to be fetched with GET.
  public static let seeOther: HTTPStatus = 303
  /// 304 Not Modified: the client's stored copy is still valid.
  public static let notModified: HTTPStatus = 304
  /// 307 Temporary Redirect: resend the same request to another URL.
  public static let temporaryRedirect: HTTPStatus = 307
  /// 308 Permanent Redirect: resend the same request to another URL, now and in the future.
  public static let permanentRedirect: HTTPStatus = 308
  /// 400 Bad Request.
  public static let badRequest: HTTPStatus = 400
  /// 401 Unauthorized: credentials are missing or were rejected.
  public static let unauthorized: HTTPStatus = 401
  /// 403 Forbidden: the request is rejected regardless of credentials.
  public static let forbidden: HTTPStatus = 403
  /// 404 Not Found.
  public static let notFound: HTTPStatus = 404
  /// 407 Proxy Authentication Required: the proxy requires credentials.
  public static let proxyAuthenticationRequired: HTTPStatus = 407
  /// 408 Request Timeout: the server timed out waiting for the request.
  public static let requestTimeout: HTTPStatus = 408
  /// 409 Conflict: the request conflicts with the state of the resource.
  public static let conflict: HTTPStatus = 409
  /// 410 Gone: the resource was permanently removed.
  public static let gone: HTTPStatus = 410
  /// 412 Precondition Failed: a precondition in the request failed.
  public static let preconditionFailed: HTTPStatus = 412
  /// 413 Content Too Large.
  public static let contentTooLarge: HTTPStatus = 413
  /// 422 Unprocessable Content: the content is well-formed but can't be processed.
  public static let unprocessableContent: HTTPStatus = 422
  /// 429 Too Many Requests.
  public static let tooManyRequests: HTTPStatus = 429
  /// 500 Internal Server Error.
  public static let internalServerError: HTTPStatus = 500
  /// 502 Bad Gateway.
  public static let badGateway: HTTPStatus = 502
  /// 503 Service Unavailable.
  public static let serviceUnavailable: HTTPStatus = 503
  /// 504 Gateway Timeout.
  public static let gatewayTimeout: HTTPStatus = 504
}
