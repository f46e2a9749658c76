import ErrandFoundation

#if canImport(UniformTypeIdentifiers)
  import UniformTypeIdentifiers
#endif

/// The system's media types, which extend the built-in table. On Linux, they are read once from `/etc/mime.types`. On
/// Apple platforms, they include the types declared by apps.
struct SystemMediaTypes: Sendable {
  private var types: [String: String] = [:]
  private var extensions: [String: String] = [:]

  /// Parses text in `mime.types` format. Each line contains a media type and its extensions, with the preferred
  /// extension first.
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
      let file = try? Data(contentsOf: URL(fileURLWithPath: "/etc/mime.types"))  // the file is often missing
      return SystemMediaTypes(file.map { String(decoding: $0, as: UTF8.self) } ?? "")
    }()

    static func type(of name: String) -> String? { present.type(of: name) }

    static func fileExtension(of essence: String) -> String? { present.fileExtension(of: essence) }

    static func identifier(of essence: String) -> String? { nil }

    static func type(ofIdentifier identifier: String) -> String? { nil }
  #endif
}
