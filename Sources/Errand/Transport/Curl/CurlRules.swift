#if os(Linux)
  import CCurl

  /// What all requests of a transport have in common, prepared once.
  final class CurlRules: Sendable {
    let configuration: CurlTransport.Configuration
    let decodingLimits: DecodingLimits
    /// The field that asks for a body that the library can decode.
    let acceptEncoding: String

    init(_ configuration: CurlTransport.Configuration) {
      self.configuration = configuration
      decodingLimits = DecodingLimits(configuration)
      var codings: [String] = []
      if CurlLibrary.offers(CC_VERSION_LIBZ) { codings += ["deflate", "gzip"] }
      if CurlLibrary.offers(CC_VERSION_BROTLI) { codings.append("br") }
      if CurlLibrary.offers(CC_VERSION_ZSTD) { codings.append("zstd") }
      acceptEncoding = "Accept-Encoding: \(codings.isEmpty ? "identity" : codings.joined(separator: ", "))"
    }
  }
#endif
