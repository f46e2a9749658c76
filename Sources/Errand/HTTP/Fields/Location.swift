import ErrandFoundation

/// The `Location` field of a response (RFC 9110 §10.2.2).
enum Location {
  /// A reason why a redirect points nowhere.
  enum Refusal: String, Error {
    case several = "it has several Location fields, which differ"
    case user = "its Location names a user, which hides where it leads"
    case malformed = "its Location is not a URL"
  }

  /// The URL that a response to a request for `url` points to; nil where it points nowhere.
  static func target(in headers: HTTPHeaders, from url: URL) throws(Refusal) -> URL? {
    let values = Set(headers.values(for: .location))
    guard let value = values.first else { return nil }
    guard values.count == 1 else { throw .several }
    let reference = URIReference(value)
    // RFC 9110 §4.2.4: in a reference from elsewhere, a user is an error: it obscures the authority.
    guard !reference.hasUser else { throw .user }
    let base = URIReference(url.absoluteString)
    var target = reference.resolved(against: base)
    // RFC 9110 §10.2.2: without a fragment of its own, the target inherits that of the request.
    target.fragment = target.fragment ?? base.fragment
    guard let url = URL(string: target.text, encodingInvalidCharacters: false) else { throw .malformed }
    return url
  }
}
