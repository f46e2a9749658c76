public import ErrandFoundation

/// A redirect that was followed, with its request and the head of the response. See ``HTTPResponse/redirects``.
public struct Redirect: Sendable, Hashable {
  /// The method of the request.
  public let method: HTTPMethod
  /// The URL that was requested.
  public let url: URL
  /// The status of the response.
  public let status: HTTPStatus
  /// The header fields of the response, including `Location`, in the order they were received.
  public let headers: HTTPHeaders

  /// Creates a redirect. `headers` is empty by default.
  public init(_ method: HTTPMethod, _ url: URL, _ status: HTTPStatus, headers: HTTPHeaders = [:]) {
    self.method = method
    self.url = url
    self.status = status
    self.headers = headers
  }
}

extension HTTPStatus {
  /// Whether a call follows the `Location` of a response with this status (RFC 9110 §15.4). `false` for 300, which
  /// offers a choice, and for 304 and 305.
  var isRedirect: Bool {
    switch code {
    case 301, 302, 303, 307, 308: true
    default: false
    }
  }
}
