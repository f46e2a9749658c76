import ErrandFoundation

/// The `Content-Disposition` field (RFC 6266; for parts of forms RFC 7578 §4.2).
public struct ContentDisposition: Sendable, Hashable {
  /// `attachment`, `inline` or `form-data`, in lower case.
  public let type: String
  /// The parameters by their names in lower case, the first of each name, as they were sent.
  public let parameters: [String: String]

  /// The value of a field; nil where it has no type.
  public init?(_ value: String) {
    var scanner = FieldScanner(value)
    scanner.skipBlanks()
    guard let type = scanner.token() else { return nil }
    self.type = type.lowercased()
    parameters = Dictionary(scanner.parameters().map { ($0.0, $0.1 ?? "") }, uniquingKeysWith: { first, _ in first })
  }

  /// The name of a part of a form.
  public var name: String? { parameters["name"] }

  /// The name that the sender gives the file, as it was sent: it may hold folders, and is not to be used as a path. That with a
  /// charset counts first (RFC 6266 §4.3).
  public var fileName: String? {
    parameters["filename*"].flatMap { ExtendedValue.text(of: $0) } ?? parameters["filename"]
  }
}

extension HTTPResponse {
  /// A name for a file with this body, safe to be used in any folder.
  ///
  /// It is the last part of what `Content-Disposition` says, else of the URL's path, else `download`; with the extension of the
  /// media type where it has none. Slashes of either kind, control characters, and dots and blanks at its ends are taken out, and it
  /// has at most 200 bytes.
  public var suggestedFileName: String {
    let stated = headers[.contentDisposition].flatMap { ContentDisposition($0)?.fileName }
    let name =
      [stated, url.path(percentEncoded: false)].compactMap { $0.flatMap(SafeFileName.make) }.first ?? "download"
    guard !name.unicodeScalars.dropFirst().contains("."), let ending = mediaType?.preferredExtension else {
      return name
    }
    return SafeFileName.joined(name.unicodeScalars[...], ".\(ending)".unicodeScalars[...])
  }
}

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
