/// The segments of a path as values, which are escaped so that none of them is more than one segment.
///
///     let path = ["label", label, "values"]                     // a task's whole path
///     var path: String { "label/\(segment: label)/values" }     // or a part of it
enum PathSegments {
  /// Stands for an empty value, which fails the call: escapes that are no UTF-8, so that no other value makes them. They are found
  /// wherever they stand, also beside other text of their segment.
  static let emptySegment = "%C0%80"

  /// The fault of a value that was given as a segment, in words; nil where there is none.
  ///
  /// One of escaped dots means a folder above or itself once it is unescaped, as most servers do (RFC 3986 §6.2.2.2 and §5.2.4).
  ///
  /// - Parameter text: A path or a URL, perhaps with a query.
  static func problem(in text: Substring) -> String? {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return nil }
    if text.contains(emptySegment) { return "an empty value for a segment: it would name something else" }
    for segment in text.utf8.prefix(while: { $0 != UInt8(ascii: "?") }).split(separator: UInt8(ascii: "/"))
    where segment.contains(UInt8(ascii: "%")) {
      let plain = Substring(segment).lowercased().replacing("%2e", with: ".")
      if plain == "." || plain == ".." { return "a segment of dots: it would name another folder" }
      if plain == "%00" { return "a segment that is a NUL" }
    }
    return nil
  }
}

extension DefaultStringInterpolation {
  /// A value as one segment of a path: `"label/\(segment: label)/values"`. Everything but the unreserved characters of RFC 3986
  /// §2.3 is escaped; a value that is empty, `.` or `..` fails the call, for it would name another folder: in a task's `path` and
  /// `url`, in a remote and in a ``URLTask``.
  public mutating func appendInterpolation(segment value: some CustomStringConvertible) {
    let text = value.description
    switch text {
    case "": appendLiteral(PathSegments.emptySegment)
    case ".", "..": appendLiteral(text.replacing(".", with: "%2E"))
    default: appendLiteral(HTTPQuery.escaped(text))
    }
  }
}
