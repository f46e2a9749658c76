#if os(Linux)
  extension HTTPRequest {
    /// True where its response is unpacked: it has no `Accept-Encoding` of its own.
    var unpacksBody: Bool { options.decodesBody && !headers.contains(.acceptEncoding) }

    /// The codings that it accepts where its response is unpacked. A range would be one of the packed bytes, which
    /// cannot be unpacked.
    var acceptEncoding: String { headers.contains(.range) ? "identity" : ContentCoding.offer }
  }

  extension Unpacking {
    /// The steps that unpack the body of a response; nil where it is handed over as it comes.
    static func of(
      _ headers: HTTPHeaders, _ status: HTTPStatus, _ method: HTTPMethod, isFramed: Bool, _ limits: DecodingLimits
    ) -> Unpacking? {
      // A part of a packed body, or none at all (RFC 9112 §6.3).
      let isPart = status == 206
      let isBodiless = method == .head || status == .noContent || status == .notModified
      guard !isPart, !isBodiless else { return nil }
      do {
        guard let codings = try ContentCoding.list(headers), !codings.isEmpty else { return nil }
        // Without a framing of its own a body ends with its connection, and may have been lost with it.
        let mayBeEmpty = isFramed || headers.contains(.contentLength) || headers.contains(.transferEncoding)
        return Unpacking(codings, limits, mayBeEmpty: mayBeEmpty)
      } catch {
        return Unpacking(failing: error)
      }
    }
  }
#endif
