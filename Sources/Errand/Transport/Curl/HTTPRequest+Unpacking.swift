#if os(Linux)
  extension HTTPRequest {
    var decompressesBody: Bool { options.decodesBody && !headers.contains(.acceptEncoding) }

    /// A range of compressed bytes can't be decompressed, so a range request accepts only `identity`.
    var acceptEncoding: String { headers.contains(.range) ? "identity" : ContentCoding.offer }
  }

  extension Unpacking {
    /// Returns `nil` if the body is returned as received.
    static func of(
      _ headers: HTTPHeaders, _ status: HTTPStatus, _ method: HTTPMethod, isFramed: Bool, _ limits: DecodingLimits
    ) -> Unpacking? {
      // A part of a compressed body, or no body at all (RFC 9112 §6.3).
      let isPart = status == 206
      let isBodiless = method == .head || status == .noContent || status == .notModified
      guard !isPart, !isBodiless else { return nil }
      do {
        guard let codings = try ContentCoding.list(headers), !codings.isEmpty else { return nil }
        // Without framing, a body ends with its connection and may have been lost with it.
        let mayBeEmpty = isFramed || headers.contains(.contentLength) || headers.contains(.transferEncoding)
        return Unpacking(codings, limits, mayBeEmpty: mayBeEmpty)
      } catch {
        return Unpacking(failing: error)
      }
    }
  }
#endif
