import ErrandFoundation

#if canImport(UniformTypeIdentifiers)
  import UniformTypeIdentifiers
#endif

/// Media types from the system, in addition to the built-in table: `/etc/mime.types`, read once, on Linux, and the
/// types declared by apps on Apple platforms.
struct SystemMediaTypes: Sendable {
  private var types: [String: String] = [:]
  private var extensions: [String: String] = [:]

  /// Parses text in `mime.types` format. Each line has a media type and its extensions, the preferred one first.
  init(_ text: String) {
    for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
      let words = line.split(whereSeparator: \.isWhitespace).map { $0.lowercased() }
      guard let type = words.first, let usual = words.dropFirst().first else { continue }
      if extensions[type] == nil { extensions[type] = usual }
      for name in words.dropFirst() where types[name] == nil { types[name] = type }
    }
  }

  func type(of name: String) -> String? { types[name] }

  func fileExtension(of essence: String) -> String? { extensions[essence] }

  #if canImport(UniformTypeIdentifiers)
    static func type(of name: String) -> String? { UTType(filenameExtension: name)?.preferredMIMEType }

    static func fileExtension(of essence: String) -> String? { UTType(mimeType: essence)?.preferredFilenameExtension }

    static func identifier(of essence: String) -> String? { UTType(mimeType: essence)?.identifier }

    static func type(ofIdentifier identifier: String) -> String? { UTType(identifier)?.preferredMIMEType }
  #else
    private static let present: SystemMediaTypes = {
      let file = try? Data(contentsOf: URL(fileURLWithPath: "/etc/mime.types"))  // often missing
      return SystemMediaTypes(file.map { String(decoding: $0, as: UTF8.self) } ?? "")
    }()

    static func type(of name: String) -> String? { present.type(of: name) }

    static func fileExtension(of essence: String) -> String? { present.fileExtension(of: essence) }

    static func identifier(of essence: String) -> String? { nil }

    static func type(ofIdentifier identifier: String) -> String? { nil }
  #endif
}
