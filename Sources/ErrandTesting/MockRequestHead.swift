import Errand

/// The part of a request before its body.
struct MockRequestHead: Sendable, Equatable {
  var method: HTTPMethod
  var target: String
  /// True when the client speaks HTTP/1.0, so that the connection ends with the answer.
  var isVersion1_0 = false
  var headers: HTTPHeaders = [:]

  /// True when the client waits for a go-ahead before it sends the body (RFC 9110 §10.1.1).
  var expectsContinue: Bool { headers[.expect]?.lowercased() == "100-continue" }

  /// True when the client wants no further exchange on the connection (RFC 9112 §9.3).
  var closes: Bool { isVersion1_0 || headers[.connection]?.lowercased() == "close" }
}
