public import Errand
public import HTTPTypes

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension HTTPTypes.HTTPRequest {
  /// The head of a request, as HTTPTypes has it.
  ///
  /// The URL becomes `:scheme`, `:authority` and `:path`; its fragment, which is never sent, is left behind, as are the body and the options
  /// of the transfer. A `Host` field is left out where it says the same as the URL.
  ///
  /// - Throws: ``TaskError`` with code `.badURL` for a URL that is none of http or https, or that has a user in it; with code `.badRequest` for
  ///   CONNECT, a method that is no token, a field that cannot be carried, and a `Host` that is not the URL's.
  public init(_ request: Errand.HTTPRequest) throws(TaskError) {
    guard let method = Method(request.method.rawValue), method != .connect else {
      throw TaskError(.badRequest, "HTTPTypes cannot carry the method '\(request.method)' of this request")
    }
    guard let origin = Origin(request.url), let parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true),
      parts.user == nil, parts.password == nil
    else { throw TaskError(.badURL, "HTTPTypes carries http and https URLs without a user") }
    let authority = origin.authority
    var headers = request.headers
    for host in headers.values(for: .host) where !origin.isNamed(by: host) {
      throw TaskError(.badRequest, "the Host field is not the URL's: HTTPTypes has one :authority for both")
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
  /// A request whose head is that of HTTPTypes.
  ///
  /// Several `Cookie` fields become one. Indexing strategies of fields are left behind.
  ///
  /// - Throws: ``TaskError`` with code `.badURL` where `:scheme`, `:authority` and `:path` make no http or https URL, as for `OPTIONS *`, or one with
  ///   another path; with code `.badRequest` for CONNECT and `:protocol`, and for a field whose value is not UTF-8.
  public init(_ request: HTTPTypes.HTTPRequest, body: HTTPBody = .empty) throws(TaskError) {
    guard request.method != .connect, request.extendedConnectProtocol == nil else {
      throw TaskError(.badRequest, "CONNECT and :protocol are no requests of their own here")
    }
    // A path that did not begin with a slash would become a part of the host. Behind a "#" it would not be sent, and what is no part of a
    // URL would be escaped.
    guard let authority = request.authority, !authority.contains(where: { "/?#@\\".contains($0) }),
      let path = request.path, path.first == "/", !path.contains("#"), let url = request.url, Origin(url) != nil,
      url.absoluteString.hasSuffix(path)
    else { throw TaskError(.badURL, ":scheme, :authority and :path are no http or https URL") }
    let headers = try HTTPHeaders(request.headerFields, or: .badRequest)
    self.init(HTTPMethod(request.method.rawValue), url, headers: headers, body: body)
  }
}

extension Origin {
  /// The host, and the port unless it is the scheme's own.
  fileprivate var authority: String { port == (isSecure ? 443 : 80) ? host : "\(host):\(port)" }

  /// True for a value of `Host` that says the same, the scheme's own port included.
  fileprivate func isNamed(by host: String) -> Bool {
    URL(string: "\(scheme)://\(host)").flatMap { Origin($0) } == self && !host.contains { "/?#@\\".contains($0) }
  }
}
