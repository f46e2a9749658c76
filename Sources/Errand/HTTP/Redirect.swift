public import ErrandFoundation

/// A redirect that was followed, as kept by ``HTTPResponse/redirects``: the request and the head of its response.
public struct Redirect: Sendable, Hashable {
  /// The method of the request.
  public let method: HTTPMethod
  /// The URL that was requested.
  public let url: URL
  /// The status that pointed elsewhere.
  public let status: HTTPStatus
  /// The header fields of the response, with its `Location`, in the order in which they came.
  public let headers: HTTPHeaders

  /// A redirect by its request and its response. `headers` defaults to none.
  public init(_ method: HTTPMethod, _ url: URL, _ status: HTTPStatus, headers: HTTPHeaders = [:]) {
    self.method = method
    self.url = url
    self.status = status
    self.headers = headers
  }
}

extension HTTPStatus {
  /// True for the statuses whose `Location` is followed (RFC 9110 §15.4): not for 300, which offers a choice, nor 304 and 305.
  var isRedirect: Bool {
    switch code {
    case 301, 302, 303, 307, 308: true
    default: false
    }
  }
}
