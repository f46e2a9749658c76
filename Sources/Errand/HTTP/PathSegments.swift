/// Path segments built from values, by an array or by `\(segment:)`, escaped so that a value can't span several
/// segments.
enum PathSegments {
  /// A placeholder for an empty value, which fails the call. It is invalid UTF-8 when unescaped, so no value produces
  /// it, and it is found even next to other text in the segment.
  static let emptySegment = "%C0%80"

  /// The problem with the segments of a path or URL, or `nil` if they are valid.
  ///
  /// A segment of escaped dots refers to the parent or the current folder on most servers, which unescape it (RFC 3986
  /// §6.2.2.2 and §5.2.4).
  static func problem(in text: Substring) -> String? {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return nil }
    if text.contains(emptySegment) { return "an empty value for a segment, which would change the path" }
    for segment in text.utf8.prefix(while: { $0 != UInt8(ascii: "?") }).split(separator: UInt8(ascii: "/"))
    where segment.contains(UInt8(ascii: "%")) {
      let plain = Substring(segment).lowercased().replacing("%2e", with: ".")
      if plain == "." || plain == ".." { return "a segment of dots, which would refer to another folder" }
      if plain == "%00" { return "a segment that is a NUL" }
    }
    return nil
  }
}

extension DefaultStringInterpolation {
  /// Inserts a value as a single path segment: `"label/\(segment: label)/values"`. All characters except the unreserved
  /// ones of RFC 3986 §2.3 are escaped.
  ///
  /// The call fails if a value is empty, `.` or `..`, because the path would refer to another folder. This applies to
  /// the `path` and `url` of a task, to remotes and to ``URLTask``.
  public mutating func appendInterpolation(segment value: some CustomStringConvertible) {
    let text = value.description
    switch text {
    case "": appendLiteral(PathSegments.emptySegment)
    case ".", "..": appendLiteral(text.replacing(".", with: "%2E"))
    default: appendLiteral(HTTPQuery.escaped(text))
    }
  }
}
