package import ErrandFoundation

/// A validated URL that a server supplied.
///
/// Redirects, pages, uploads and device sign-in only accept this type, so they can't request an unchecked URL. The URL
/// must be an absolute http or https URL without user information. If an earlier URL was https, this one must be https
/// too, even for localhost or the hosts in ``ServerConfiguration/insecureHosts``.
package struct LinkedURL: Sendable, Hashable {
  package enum Refusal: Error, Equatable {
    case several(HTTPHeaderName)
    case malformed(HTTPHeaderName)
    case user
    case downgrade
    case host(HostName.Refusal)

    package var reason: String {
      switch self {
      case .several(let field): "it has several \(field) fields with different values"
      case .malformed(let field): "its \(field) is not a URL"
      case .user: "it contains a user name, which can disguise the host"
      case .downgrade: "it would downgrade the connection from https to http"
      case .host(let refusal): refusal.rawValue
      }
    }
  }

  package let url: URL

  /// Validates a URL. `sources` are the URLs requested so far. The response from the last one contained the URL.
  package init(_ url: URL, from sources: [URL]) throws(Refusal) {
    let target: Origin
    switch Origin.reading(url) {
    case .success(let origin): target = origin
    case .failure(let refusal): throw .host(refusal)
    }
    if !target.isSecure, sources.contains(where: { Origin($0)?.isSecure ?? true }) { throw .downgrade }
    // RFC 9110 §4.2.4: user information can obscure the host. A relative reference inherits the user information of its
    // source.
    guard let user = Self.user(of: url) else {
      self.url = url
      return
    }
    guard let source = sources.last, Origin(source) == target, Self.user(of: source) == user else { throw .user }
    self.url = url
  }

  private static func user(of url: URL) -> Substring? {
    let authority = URIReference(url.absoluteString).authority
    return authority?.lastIndex(of: "@").flatMap { authority?[..<$0] }
  }

  /// Resolves a reference against a URL without validation (RFC 3986 §5). Returns `nil` if the result isn't a URL.
  static func resolved(_ reference: String, against url: URL) -> URL? {
    let target = URIReference(reference).resolved(against: URIReference(url.absoluteString))
    return URL(string: target.text, encodingInvalidCharacters: false)
  }

  /// Resolves the reference in a field such as `Location` (RFC 9110 §10.2.2) against the URL of the response, without
  /// validation. Returns `nil` if the field is missing.
  package static func target(
    of field: HTTPHeaderName = .location, in headers: HTTPHeaders, from url: URL
  ) throws(Refusal) -> URL? {
    let values = Set(headers.values(for: field))
    guard let value = values.first else { return nil }
    guard values.count == 1 else { throw .several(field) }
    let base = URIReference(url.absoluteString)
    var target = URIReference(value).resolved(against: base)
    // RFC 9110 §10.2.2: a target without a fragment inherits the request's fragment.
    target.fragment = target.fragment ?? base.fragment
    guard let url = URL(string: target.text, encodingInvalidCharacters: false) else { throw .malformed(field) }
    return url
  }
}
