public import Errand
public import HTTPTypes

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension HTTPTypes.HTTPRequest {
  /// Creates the head of a request for HTTPTypes.
  ///
  /// The URL becomes `:scheme`, `:authority` and `:path`. Its fragment, the body and the transfer options are dropped.
  /// A `Host` field that matches the URL is omitted.
  ///
  /// - Throws: ``TaskError`` with code `.badURL` if the URL has a user name or a scheme other than http and https, or
  ///   with code `.badRequest` for CONNECT, an invalid method, an invalid field, or a `Host` that does not match the
  ///   URL.
  public init(_ request: Errand.HTTPRequest) throws(TaskError) {
    guard let method = Method(request.method.rawValue), method != .connect else {
      throw TaskError(.badRequest, "HTTPTypes can't represent the method '\(request.method)'")
    }
    guard let origin = Origin(request.url), let parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true),
      parts.user == nil, parts.password == nil
    else { throw TaskError(.badURL, "only http and https URLs without a user name can be converted") }
    let authority = origin.authority
    var headers = request.headers
    for host in headers.values(for: .host) where !origin.isNamed(by: host) {
      throw TaskError(.badRequest, "Host does not match the URL, and HTTPTypes has one :authority for both")
    }
    headers.remove(.host)
    let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
    self.init(
      method: method, scheme: origin.scheme, authority: authority,
      path: path + (parts.percentEncodedQuery.map { "?\($0)" } ?? ""),
      headerFields: try HTTPFields(headers, or: .badRequest))
  }
}

extension Errand.HTTPRequest {
  /// Creates a request with a head from HTTPTypes.
  ///
  /// Repeated `Cookie` fields are joined. The fields' indexing strategies are dropped.
  ///
  /// - Throws: ``TaskError`` with code `.badURL` if `:scheme`, `:authority` and `:path` do not form an http or https
  ///   URL, as for `OPTIONS *`, or if the URL would have a different path; or with code `.badRequest` for CONNECT,
  ///   `:protocol` or a field whose value is not UTF-8.
  public init(_ request: HTTPTypes.HTTPRequest, body: HTTPBody = .empty) throws(TaskError) {
    guard request.method != .connect, request.extendedConnectProtocol == nil else {
      throw TaskError(.badRequest, "Errand does not support CONNECT and :protocol")
    }
    // A path without a leading slash would become part of the host. A "#" would drop everything after it, and
    // characters that are invalid in URLs would be escaped.
    guard let authority = request.authority, !authority.contains(where: { "/?#@\\".contains($0) }),
      let path = request.path, path.first == "/", !path.contains("#"), let url = request.url, Origin(url) != nil,
      url.absoluteString.hasSuffix(path)
    else { throw TaskError(.badURL, ":scheme, :authority and :path do not form an http or https URL") }
    let headers = try HTTPHeaders(request.headerFields, or: .badRequest)
    self.init(HTTPMethod(request.method.rawValue), url, headers: headers, body: body)
  }
}

extension Origin {
  /// The host, and the port unless it is the scheme's default.
  fileprivate var authority: String { port == (isSecure ? 443 : 80) ? host : "\(host):\(port)" }

  /// Whether a `Host` value matches, including the scheme's default port.
  fileprivate func isNamed(by host: String) -> Bool {
    URL(string: "\(scheme)://\(host)").flatMap { Origin($0) } == self && !host.contains { "/?#@\\".contains($0) }
  }
}
