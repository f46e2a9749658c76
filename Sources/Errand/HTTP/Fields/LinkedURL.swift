import ErrandFoundation

/// A URL that a server supplied, checked so that it can be requested.
///
/// Redirects, pages, uploads and device sign-in only accept this type, so a URL cannot be requested without the check. It must
/// be an absolute http or https URL, must not name a user, and must not lead from https to http: not even to a host of
/// ``ServerConfiguration/insecureHosts``, or to this machine.
struct LinkedURL: Sendable, Hashable {
  /// The reason why a URL is not requested.
  enum Refusal: Error, Equatable {
    case several(HTTPHeaderName)
    case malformed(HTTPHeaderName)
    case user
    case downgrade
    case host(HostName.Refusal)

    /// The text of the reason in an error message.
    var reason: String {
      switch self {
      case .several(let field): "it has several \(field) fields, which differ"
      case .malformed(let field): "its \(field) is not a URL"
      case .user: "it names a user, which hides where it leads"
      case .downgrade: "it leads from https to http"
      case .host(let refusal): refusal.rawValue
      }
    }
  }

  let url: URL

  /// Checks a URL that a server supplied.
  ///
  /// - Parameters:
  ///   - url: The URL.
  ///   - sources: The URLs that were requested on the way to it. The last one supplied it.
  init(_ url: URL, from sources: [URL]) throws(Refusal) {
    let target: Origin
    switch Origin.reading(url) {
    case .success(let origin): target = origin
    case .failure(let refusal): throw .host(refusal)
    }
    // A source without an origin counts as https.
    if !target.isSecure, sources.contains(where: { Origin($0)?.isSecure ?? true }) { throw .downgrade }
    // RFC 9110 §4.2.4: a user in a reference obscures its host. A relative one inherits the user of its source.
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

  /// Resolves a reference in a response, unchecked (RFC 3986 §5); `nil` if the result is not a URL.
  static func resolved(_ reference: String, against url: URL) -> URL? {
    let target = URIReference(reference).resolved(against: URIReference(url.absoluteString))
    return URL(string: target.text, encodingInvalidCharacters: false)
  }

  /// Resolves the reference in a header field of a response, unchecked; `nil` without the field.
  ///
  /// - Parameters:
  ///   - field: The field, such as `Location` (RFC 9110 §10.2.2).
  ///   - headers: The header of the response.
  ///   - url: The URL of the response.
  static func target(
    of field: HTTPHeaderName = .location, in headers: HTTPHeaders, from url: URL
  ) throws(Refusal) -> URL? {
    let values = Set(headers.values(for: field))
    guard let value = values.first else { return nil }
    guard values.count == 1 else { throw .several(field) }
    let base = URIReference(url.absoluteString)
    var target = URIReference(value).resolved(against: base)
    // RFC 9110 §10.2.2: a target without a fragment inherits that of the request.
    target.fragment = target.fragment ?? base.fragment
    guard let url = URL(string: target.text, encodingInvalidCharacters: false) else { throw .malformed(field) }
    return url
  }
}
