/// A content coding that transports can decode (RFC 9110 §8.4.1).
enum ContentCoding: String, CaseIterable {
  case gzip
  case deflate
  case brotli = "br"
  case zstd

  /// The maximum number of codings for one body. A body with more codings is treated as an attack.
  static let mostLayers = 4

  init?(name: Substring) {
    switch name.lowercased() {
    case "gzip", "x-gzip": self = .gzip  // RFC 9110 §8.4.1.3
    case "deflate": self = .deflate
    case "br": self = .brotli
    case "zstd": self = .zstd
    default: return nil
    }
  }

  /// Returns the names in `Content-Encoding`, in the order in which they were applied, without `identity`.
  static func names(_ headers: HTTPHeaders) -> [Substring] {
    (headers[.contentEncoding] ?? "").split(separator: ",").map { $0.trimmingSpaces() }
      .filter { !$0.isEmpty && $0.lowercased() != "identity" }
  }
}

extension HTTPHeaders {
  /// Whether the body is compressed with codings that transports decode. A body with an unknown coding, such as
  /// `aws-chunked` or `utf-8`, is delivered as received.
  package var isCompressed: Bool {
    guard contains(.contentEncoding) else { return false }
    let names = ContentCoding.names(self)
    guard names.count <= ContentCoding.mostLayers else { return true }
    return !names.isEmpty && names.allSatisfy { ContentCoding(name: $0) != nil }
  }
}
