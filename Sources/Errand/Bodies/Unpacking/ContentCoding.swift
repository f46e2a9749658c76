/// A way to compress bodies (RFC 9110 §8.4.1) that a transport undoes.
enum ContentCoding: String, CaseIterable {
  case gzip
  case deflate
  case brotli = "br"
  case zstd

  /// The maximum number of codings of one body: more is an attack, not a server.
  static let mostLayers = 4

  /// The coding with a name, in any case; `nil` for any other.
  init?(name: Substring) {
    switch name.lowercased() {
    case "gzip", "x-gzip": self = .gzip  // RFC 9110 §8.4.1.3
    case "deflate": self = .deflate
    case "br": self = .brotli
    case "zstd": self = .zstd
    default: return nil
    }
  }

  /// The names in `Content-Encoding`, in the order in which the codings were applied, without `identity`.
  static func names(_ headers: HTTPHeaders) -> [Substring] {
    (headers[.contentEncoding] ?? "").split(separator: ",").map { $0.trimmingSpaces() }
      .filter { !$0.isEmpty && $0.lowercased() != "identity" }
  }
}

extension HTTPHeaders {
  /// Whether the body is compressed, by codings that transports undo. A body with an unknown coding, such as `aws-chunked` or
  /// `utf-8`, is delivered as it came.
  package var isCompressed: Bool {
    guard contains(.contentEncoding) else { return false }
    let names = ContentCoding.names(self)
    guard names.count <= ContentCoding.mostLayers else { return true }
    return !names.isEmpty && names.allSatisfy { ContentCoding(name: $0) != nil }
  }
}
