/// A URI reference, absolute or relative, split into its components (RFC 3986 §4.1).
///
/// Unlike Foundation, this type resolves references strictly, and in the same way on every platform: `http:g` is an
/// absolute URI without a host, not a path.
package struct URIReference: Equatable {
  var scheme: String?
  var authority: String?
  var path: String
  var query: String?
  var fragment: String?

  /// Parses a reference. Any text is accepted: characters that aren't allowed in a URI are escaped, because servers
  /// send spaces, brackets and non-ASCII letters. Existing escapes are kept.
  init(_ text: String) {
    // RFC 3986 appendix B. Work on bytes, because Swift merges a slash and a following accent into one character.
    var rest = text[...]
    fragment = Self.cut(&rest, at: "#")?.escapedForURI()
    query = Self.cut(&rest, at: "?")?.escapedForURI()
    if let colon = rest.firstIndex(ofByte: ":"), Self.isScheme(rest[..<colon]) {
      scheme = String(rest[..<colon])
      rest = rest[rest.utf8.index(after: colon)...]
    }
    if rest.utf8.starts(with: "//".utf8) {
      rest = rest[rest.utf8.index(rest.startIndex, offsetBy: 2)...]
      let end = rest.firstIndex(ofByte: "/") ?? rest.endIndex
      authority = rest[..<end].escapedForURI(except: "[]")
      rest = rest[end...]
    }
    path = rest.escapedForURI()
  }

  /// Removes the first `mark` and everything after it. Returns the text after the mark, or `nil` if the mark is
  /// missing.
  private static func cut(_ text: inout Substring, at mark: Unicode.Scalar) -> Substring? {
    guard let index = text.firstIndex(ofByte: mark) else { return nil }
    defer { text = text[..<index] }
    return text[text.utf8.index(after: index)...]
  }

  // RFC 3986 §3.1: ALPHA *( ALPHA / DIGIT / "+" / "-" / "." ).
  private static func isScheme(_ text: Substring) -> Bool {
    guard let first = text.first, first.isASCII, first.isLetter else { return false }
    return text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
  }

  /// The reference as text (RFC 3986 §5.3).
  var text: String {
    var text = scheme.map { "\($0):" } ?? ""
    if let authority { text += "//\(authority)" }
    text += path
    if let query { text += "?\(query)" }
    if let fragment { text += "#\(fragment)" }
    return text
  }

  /// Resolves the reference against an absolute base URI (RFC 3986 §5.2.2).
  func resolved(against base: URIReference) -> URIReference {
    var target = self
    target.scheme = scheme ?? base.scheme
    if scheme != nil || authority != nil {
      target.path = Self.withoutDots(path)
      return target
    }
    target.authority = base.authority
    if path.isEmpty {
      target.path = base.path
      target.query = query ?? base.query
    } else {
      target.path = Self.withoutDots(path.hasPrefix("/") ? path : merged(with: base))
    }
    return target
  }

  // RFC 3986 §5.2.3.
  private func merged(with base: URIReference) -> String {
    if base.authority != nil, base.path.isEmpty { return "/" + path }
    guard let slash = base.path.lastIndex(of: "/") else { return path }
    return base.path[...slash] + path
  }

  // RFC 3986 §5.2.4. Relative paths are left unchanged. Escaped dots are treated as dots (§6.2.2.2), because a server
  // that decodes them would go up a folder.
  package static func withoutDots(_ path: String) -> String {
    guard path.hasPrefix("/") else { return path }
    let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    var kept: [Substring] = []
    for (index, segment) in segments.enumerated() {
      let dots = numberOfDots(segment)
      let isDots = dots == 1 || dots == 2
      if dots == 2 { _ = kept.popLast() }
      if !isDots { kept.append(segment) } else if index == segments.count - 1 { kept.append("") }
    }
    return "/" + kept.joined(separator: "/")
  }

  /// Returns the number of dots, escaped or not, in a segment that consists only of dots. Returns 0 for any other
  /// segment.
  private static func numberOfDots(_ segment: Substring) -> Int {
    var (count, rest) = (0, segment.utf8[...])
    while let first = rest.first {
      let length = first == UInt8(ascii: ".") ? 1 : 3
      guard
        length == 1 || rest.prefix(3).elementsEqual("%2e".utf8)
          || rest.prefix(3).elementsEqual("%2E".utf8)
      else {
        return 0
      }
      rest = rest.dropFirst(length)
      count += 1
    }
    return count
  }
}

extension Substring {
  fileprivate func firstIndex(ofByte mark: Unicode.Scalar) -> Index? { utf8.firstIndex(of: UInt8(ascii: mark)) }
}
