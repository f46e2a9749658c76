extension MediaType {
  /// Creates the media type for a file extension. Returns `nil` if the extension is unknown. The extension is
  /// case-insensitive and can start with a dot.
  ///
  /// Uses a built-in table of common types first, then the system's types. Prefer the `Content-Type` that a server
  /// sends.
  public init?(fileExtension: String) {
    let name = fileExtension.drop { $0 == "." }.lowercased()
    let known = Self.table.first { $0.extensions.contains(name) }?.type
    guard !name.isEmpty, let type = known ?? SystemMediaTypes.type(of: name) else { return nil }
    self.init(type)
  }

  /// The usual file extension of this type, without a dot, or `nil` if it is unknown.
  public var preferredExtension: String? {
    entry?.extensions.first ?? SystemMediaTypes.fileExtension(of: essence)
  }

  /// Apple's uniform type identifier, such as `public.mp3`, or `nil` if it is unknown. Uses the built-in table and, on
  /// Apple platforms, the types known to the system.
  public var uniformTypeIdentifier: String? { entry?.identifier ?? SystemMediaTypes.identifier(of: essence) }

  /// Creates the media type for a uniform type identifier. Returns `nil` if the identifier is unknown.
  public init?(uniformTypeIdentifier: String) {
    let known = Self.table.first { $0.identifier == uniformTypeIdentifier }?.type
    guard let type = known ?? SystemMediaTypes.type(ofIdentifier: uniformTypeIdentifier) else { return nil }
    self.init(type)
  }

  private struct Entry: Sendable {
    let type: String
    let extensions: [String]
    let identifier: String?
  }

  private var entry: Entry? {
    let essence = essence
    return Self.table.first { $0.type == essence || Self.synonyms[essence] == $0.type }
  }

  /// Outdated names that servers still use.
  private static let synonyms = [
    "application/x-javascript": "text/javascript", "application/javascript": "text/javascript",
    "text/xml": "application/xml",
    "audio/mp3": "audio/mpeg", "image/jpg": "image/jpeg", "application/x-gzip": "application/gzip",
    "application/x-zip-compressed": "application/zip", "audio/x-wav": "audio/wav", "text/x-markdown": "text/markdown",
    "application/x-yaml": "application/yaml", "text/yaml": "application/yaml", "application/csv": "text/csv",
  ]

  private static func entry(_ type: String, _ extensions: String, _ identifier: String? = nil) -> Entry {
    Entry(type: type, extensions: extensions.split(separator: " ").map(String.init), identifier: identifier)
  }

  private static let table: [Entry] = [
    entry("text/plain", "txt text log conf", "public.plain-text"), entry("text/html", "html htm", "public.html"),
    entry("text/css", "css", "public.css"), entry("text/csv", "csv", "public.comma-separated-values-text"),
    entry("text/tab-separated-values", "tsv", "public.tab-separated-values-text"),
    entry("text/markdown", "md markdown", "net.daringfireball.markdown"),
    entry("text/javascript", "js mjs", "com.netscape.javascript-source"),
    entry("text/calendar", "ics", "com.apple.ical.ics"),
    entry("text/vcard", "vcf", "public.vcard"), entry("text/vtt", "vtt", "org.w3.webvtt"),
    entry("application/json", "json", "public.json"), entry("application/x-ndjson", "ndjson jsonl"),
    entry("application/geo+json", "geojson", "public.geojson"), entry("application/xml", "xml", "public.xml"),
    entry("application/yaml", "yaml yml", "public.yaml"), entry("application/toml", "toml"),
    entry("application/x-plist", "plist", "com.apple.property-list"), entry("application/pdf", "pdf", "com.adobe.pdf"),
    entry("application/rtf", "rtf", "public.rtf"), entry("application/wasm", "wasm"),
    entry("application/zip", "zip", "public.zip-archive"), entry("application/gzip", "gz", "org.gnu.gnu-zip-archive"),
    entry("application/x-tar", "tar", "public.tar-archive"),
    entry("application/x-bzip2", "bz2", "public.bzip2-archive"),
    entry("application/x-xz", "xz", "org.tukaani.xz-archive"), entry("application/zstd", "zst"),
    entry("application/x-7z-compressed", "7z", "org.7-zip.7-zip-archive"), entry("application/vnd.rar", "rar"),
    entry("application/epub+zip", "epub", "org.idpf.epub-container"),
    entry("application/vnd.sqlite3", "sqlite sqlite3 db"),
    entry("application/msword", "doc", "com.microsoft.word.doc"),
    entry("application/vnd.ms-excel", "xls", "com.microsoft.excel.xls"),
    entry("application/vnd.ms-powerpoint", "ppt", "com.microsoft.powerpoint.ppt"),
    entry(
      "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx",
      "org.openxmlformats.wordprocessingml.document"),
    entry(
      "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xlsx",
      "org.openxmlformats.spreadsheetml.sheet"),
    entry(
      "application/vnd.openxmlformats-officedocument.presentationml.presentation", "pptx",
      "org.openxmlformats.presentationml.presentation"),
    entry("application/vnd.oasis.opendocument.text", "odt", "org.oasis-open.opendocument.text"),
    entry("image/jpeg", "jpg jpeg jpe", "public.jpeg"), entry("image/png", "png", "public.png"),
    entry("image/gif", "gif", "com.compuserve.gif"), entry("image/webp", "webp", "org.webmproject.webp"),
    entry("image/avif", "avif", "public.avif"), entry("image/heic", "heic", "public.heic"),
    entry("image/heif", "heif", "public.heif"), entry("image/tiff", "tiff tif", "public.tiff"),
    entry("image/bmp", "bmp", "com.microsoft.bmp"), entry("image/svg+xml", "svg", "public.svg-image"),
    entry("image/vnd.microsoft.icon", "ico", "com.microsoft.ico"),
    entry("audio/mpeg", "mp3", "public.mp3"), entry("audio/mp4", "m4a", "public.mpeg-4-audio"),
    entry("audio/aac", "aac", "public.aac-audio"),
    entry("audio/wav", "wav", "com.microsoft.waveform-audio"), entry("audio/flac", "flac", "org.xiph.flac"),
    entry("audio/ogg", "ogg oga opus", "org.xiph.ogg-audio"), entry("audio/midi", "mid midi", "public.midi-audio"),
    entry("video/mp4", "mp4 m4v", "public.mpeg-4"), entry("video/quicktime", "mov qt", "com.apple.quicktime-movie"),
    entry("video/webm", "webm", "org.webmproject.webm"), entry("video/x-matroska", "mkv", "org.matroska.mkv"),
    entry("video/mpeg", "mpeg mpg", "public.mpeg"), entry("video/mp2t", "ts", "public.mpeg-2-transport-stream"),
    entry("video/x-msvideo", "avi", "public.avi"),
    entry("font/woff", "woff"), entry("font/woff2", "woff2"), entry("font/ttf", "ttf", "public.truetype-ttf-font"),
    entry("font/otf", "otf", "public.opentype-font"),
    entry("application/octet-stream", "bin dat", "public.data"),
  ]
}
