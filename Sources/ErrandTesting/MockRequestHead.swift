import Errand

/// A request's request line and header fields.
struct MockRequestHead: Sendable, Equatable {
  var method: HTTPMethod
  var target: String
  /// Whether the client uses HTTP/1.0, which means that the connection ends after the response.
  var isVersion1_0 = false
  var headers: HTTPHeaders = [:]

  /// Whether the client waits for `100 Continue` before sending the body (RFC 9110 §10.1.1).
  var expectsContinue: Bool { headers[.expect]?.lowercased() == "100-continue" }

  /// Whether the connection ends after the response (RFC 9112 §9.3).
  var closes: Bool { isVersion1_0 || headers[.connection]?.lowercased() == "close" }
}
