#if os(Linux)
  import CCurl

  extension ContentCoding {
    /// The library's format. Deflate means zlib, as RFC 9110 requires.
    var format: Int32 {
      switch self {
      case .gzip: CDECODER_GZIP
      case .deflate: CDECODER_ZLIB
      case .brotli: CDECODER_BROTLI
      case .zstd: CDECODER_ZSTD
      }
    }

    var isAvailable: Bool { cdecoder_is_available(format) != 0 }

    var library: String {
      switch self {
      case .gzip, .deflate: "libz.so.1"
      case .brotli: "libbrotlidec.so.1"
      case .zstd: "libzstd.so.1"
      }
    }

    /// The value of `Accept-Encoding` in a request whose body will be decompressed.
    static let offer: String = {
      let codings = [deflate, gzip, brotli, zstd].filter(\.isAvailable).map(\.rawValue)
      return codings.isEmpty ? "identity" : codings.joined(separator: ", ")
    }()

    /// Returns the codings in `Content-Encoding`, in the order in which they were applied. Returns `nil` if a coding is
    /// unknown, in which case the body is delivered as received.
    ///
    /// Throws ``TaskError`` if there are too many codings, or if the library for a coding is missing.
    static func list(_ headers: HTTPHeaders) throws(TaskError) -> [ContentCoding]? {
      let names = names(headers)
      guard names.count <= mostLayers else {
        throw TaskError(
          .badResponse,
          "the body is compressed \(names.count) times, but at most \(mostLayers) are supported: Content-Encoding is \(headers[.contentEncoding]?.prefix(200) ?? "")",
          phase: .receiving)
      }
      var codings: [ContentCoding] = []
      for name in names {
        guard let coding = ContentCoding(name: name) else { return nil }
        codings.append(coding)
      }
      if let missing = codings.first(where: { !$0.isAvailable }) {
        throw TaskError(
          .badResponse,
          "the body is compressed with \(missing.rawValue), which the request did not offer because \(missing.library) is not installed",
          phase: .receiving)
      }
      return codings
    }
  }
#endif
