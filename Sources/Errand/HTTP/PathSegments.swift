/// Path segments that are built from values, in an array or with `\(segment:)`. Values are escaped, so that a value
/// can't span several segments.
enum PathSegments {
  /// A placeholder for an empty value, which fails the call. Unescaped, it is invalid UTF-8, so no value produces it.
  /// It is found even next to other text in the segment.
  static let emptySegment = "%C0%80"

  /// Returns the problem with the segments of a path or URL, or `nil` if they are valid.
  ///
  /// Most servers unescape a segment of escaped dots, so it refers to the current or parent folder (RFC 3986 §6.2.2.2
  /// and §5.2.4).
  static func problem(in text: Substring) -> String? {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return nil }
    if text.contains(emptySegment) { return "a segment with an empty value, which would change the path" }
    for segment in text.utf8.prefix(while: { $0 != UInt8(ascii: "?") }).split(separator: UInt8(ascii: "/"))
    where segment.contains(UInt8(ascii: "%")) {
      let plain = Substring(segment).lowercased().replacing("%2e", with: ".")
      if plain == "." || plain == ".." { return "a segment that consists of dots, which would refer to another folder" }
      if plain == "%00" { return "a segment that consists of a NUL" }
    }
    return nil
  }
}

extension DefaultStringInterpolation {
  /// Inserts a value as a single path segment: `"label/\(segment: label)/values"`. All characters except the unreserved
  /// ones (RFC 3986 §2.3) are escaped.
  ///
  /// The call fails if a value is empty, `.` or `..`, because the path would refer to another folder. This applies to a
  /// task's `path` and `url`, to remotes and to ``URLTask``.
  public mutating func appendInterpolation(segment value: some CustomStringConvertible) {
    let text = value.description
    switch text {
    case "": appendLiteral(PathSegments.emptySegment)
    case ".", "..": appendLiteral(text.replacing(".", with: "%2E"))
    default: appendLiteral(HTTPQuery.escaped(text))
    }
  }
}
