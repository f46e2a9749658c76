/// Makes names of files from what others send. By scalars: to Swift a slash is one character with an accent behind it, or with
/// something that is not seen.
enum SafeFileName {
  typealias Scalars = Substring.UnicodeScalarView

  /// The most bytes of a name.
  private static let maximumSize = 200

  /// The last part of a path as a name; nil where nothing of it can be one.
  static func make(_ path: String) -> String? {
    let last = path.unicodeScalars.split { $0 == "/" || $0 == "\\" || $0 == "\0" }.last ?? Scalars()
    let seen = last.filter { !isHidden($0) && !"<>:\"|?*".unicodeScalars.contains($0) }.drop(while: isEdge)
    let name = trimmed(seen)
    guard !name.isEmpty else { return nil }
    // An extension stays, where it is one.
    let dot = name.lastIndex(of: ".").flatMap { String(name[$0...]).utf8.count <= 20 ? $0 : nil }
    return joined(name[..<(dot ?? name.endIndex)], name[(dot ?? name.endIndex)...])
  }

  /// The first of these that can be a name, else `download`; with the extension of the media type where it has none.
  static func suggestion(of names: [String?], for type: MediaType?) -> String {
    let name = names.compactMap { $0.flatMap(make) }.first ?? "download"
    guard !name.unicodeScalars.dropFirst().contains("."), let ending = type?.preferredExtension else { return name }
    return joined(name.unicodeScalars[...], ".\(ending)".unicodeScalars[...])
  }

  /// A name and its extension, the name cut where both are too long.
  static func joined(_ stem: Scalars, _ ending: Scalars) -> String {
    var left = maximumSize - String(ending).utf8.count
    guard String(stem).utf8.count > left else { return String(stem) + String(ending) }
    let cut = stem.prefix { scalar in
      left -= UTF8.width(scalar)
      return left >= 0
    }
    return String(trimmed(cut)) + String(ending)
  }

  /// The same name with a number before its extension, `name (2).ext`, which counts from 2; the name itself for 1.
  static func numbered(_ name: String, _ number: Int) -> String {
    guard number > 1 else { return name }
    var stem = name.dropFirst().lastIndex(of: ".").map { name[..<$0] } ?? name[...]
    if stem.lowercased().hasSuffix(".tar"), stem.count > 4 { stem = stem.dropLast(4) }  // archive.tar.gz
    return "\(stem) (\(number))\(name.dropFirst(stem.count))"
  }

  /// Without the dots and blanks at its end.
  private static func trimmed(_ name: Scalars) -> Scalars {
    guard let last = name.lastIndex(where: { !isEdge($0) }) else { return Scalars() }
    return name[...last]
  }

  private static func isEdge(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "." }

  /// Characters that are not seen, or turn the order of those that are: they make one name look like another.
  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: true
    default: false
    }
  }
}
