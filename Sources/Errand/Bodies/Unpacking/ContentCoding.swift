#if os(Linux)
  import CCurl

  /// A way in which bodies are packed (RFC 9110 §8.4.1) that can be undone here.
  enum ContentCoding: String, CaseIterable {
    case gzip
    case deflate
    case brotli = "br"
    case zstd

    /// The most codings that one body may have: more is an attack, not a server.
    static let mostLayers = 4

    /// The coding of a name, in any case; nil for any other.
    init?(name: Substring) {
      switch name.lowercased() {
      case "gzip", "x-gzip": self = .gzip  // RFC 9110 §8.4.1.3
      case "deflate": self = .deflate
      case "br": self = .brotli
      case "zstd": self = .zstd
      default: return nil
      }
    }

    /// The format that undoes it; for deflate, the one that its name promises.
    var format: Int32 {
      switch self {
      case .gzip: CDECODER_GZIP
      case .deflate: CDECODER_ZLIB
      case .brotli: CDECODER_BROTLI
      case .zstd: CDECODER_ZSTD
      }
    }

    /// True when the machine has its library.
    var isAvailable: Bool { cdecoder_is_available(format) != 0 }

    var library: String {
      switch self {
      case .gzip, .deflate: "libz.so.1"
      case .brotli: "libbrotlidec.so.1"
      case .zstd: "libzstd.so.1"
      }
    }

    /// The value of `Accept-Encoding` in a request whose body will be unpacked.
    static let offer: String = {
      let codings = [deflate, gzip, brotli, zstd].filter(\.isAvailable).map(\.rawValue)
      return codings.isEmpty ? "identity" : codings.joined(separator: ", ")
    }()

    /// The codings of a `Content-Encoding`, in the order in which they were applied; nil where one of them is unknown,
    /// so that the body cannot be unpacked.
    /// Throws ``TaskError`` where there are too many, or one whose library is missing.
    static func list(_ headers: HTTPHeaders) throws(TaskError) -> [ContentCoding]? {
      let value = headers[.contentEncoding] ?? ""
      let names = value.split(separator: ",").map { $0.trimmingSpaces() }
        .filter { !$0.isEmpty && $0.lowercased() != "identity" }
      guard names.count <= mostLayers else {
        throw TaskError(
          .badResponse,
          "the body is packed \(names.count) times, more than \(mostLayers): Content-Encoding is \(value.prefix(200))",
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
          "the body is packed with \(missing.rawValue), which was not asked for: \(missing.library) is not installed",
          phase: .receiving)
      }
      return codings
    }
  }
#endif
