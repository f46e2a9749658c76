/// Makes safe file names from untrusted text.
///
/// Works on Unicode scalars, because Swift merges a slash and a following accent or invisible scalar into one
/// character.
enum SafeFileName {
  typealias Scalars = Substring.UnicodeScalarView

  /// The maximum length of a name, in bytes.
  private static let maximumSize = 200

  /// Returns the last component of a path as a safe name, or `nil` if no usable characters are left.
  static func make(_ path: String) -> String? {
    let last = path.unicodeScalars.split { $0 == "/" || $0 == "\\" || $0 == "\0" }.last ?? Scalars()
    let seen = last.filter { !isHidden($0) && !"<>:\"|?*".unicodeScalars.contains($0) }.drop(while: isEdge)
    let name = trimmed(seen)
    guard !name.isEmpty else { return nil }
    // Keep the extension, unless it is too long to be one.
    let dot = name.lastIndex(of: ".").flatMap { String(name[$0...]).utf8.count <= 20 ? $0 : nil }
    return joined(name[..<(dot ?? name.endIndex)], name[(dot ?? name.endIndex)...])
  }

  /// Returns the first usable name, or `download` if none is usable. Adds the media type's extension if the name has no
  /// extension.
  static func suggestion(of names: [String?], for type: MediaType?) -> String {
    let name = names.compactMap { $0.flatMap(make) }.first ?? "download"
    guard !name.unicodeScalars.dropFirst().contains("."), let ending = type?.preferredExtension else { return name }
    return joined(name.unicodeScalars[...], ".\(ending)".unicodeScalars[...])
  }

  /// Joins a name and its extension, shortening the name if the result is too long.
  static func joined(_ stem: Scalars, _ ending: Scalars) -> String {
    var left = maximumSize - String(ending).utf8.count
    guard String(stem).utf8.count > left else { return String(stem) + String(ending) }
    let cut = stem.prefix { scalar in
      left -= UTF8.width(scalar)
      return left >= 0
    }
    return String(trimmed(cut)) + String(ending)
  }

  /// Returns the name with a number before its extension, such as `name (2).ext`. Returns the name unchanged if the
  /// number is 1.
  static func numbered(_ name: String, _ number: Int) -> String {
    guard number > 1 else { return name }
    var stem = name.dropFirst().lastIndex(of: ".").map { name[..<$0] } ?? name[...]
    if stem.lowercased().hasSuffix(".tar"), stem.count > 4 { stem = stem.dropLast(4) }  // archive.tar.gz
    return "\(stem) (\(number))\(name.dropFirst(stem.count))"
  }

  private static func trimmed(_ name: Scalars) -> Scalars {
    guard let last = name.lastIndex(where: { !isEdge($0) }) else { return Scalars() }
    return name[...last]
  }

  private static func isEdge(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "." }

  /// Whether a scalar is invisible or changes the text direction. Such scalars can make one name look like another.
  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
    default: false
    }
  }
}
