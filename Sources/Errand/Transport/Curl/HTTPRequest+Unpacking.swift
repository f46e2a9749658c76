#if os(Linux)
  extension HTTPRequest {
    var decompressesBody: Bool { options.decodesBody && !headers.contains(.acceptEncoding) }

    /// The value of `Accept-Encoding`. A range of a compressed body can't be decompressed, so a range request accepts
    /// only `identity`.
    var acceptEncoding: String { headers.contains(.range) ? "identity" : ContentCoding.offer }
  }

  extension Unpacking {
    /// Returns `nil` if the body should be returned as received.
    static func of(
      _ headers: HTTPHeaders, _ status: HTTPStatus, _ method: HTTPMethod, isFramed: Bool, _ limits: DecodingLimits
    ) -> Unpacking? {
      // A partial body can't be decompressed, and the other responses have no body (RFC 9112 §6.3).
      let isPart = status == 206
      let isBodiless = method == .head || status == .noContent || status == .notModified
      guard !isPart, !isBodiless else { return nil }
      do {
        guard let codings = try ContentCoding.list(headers), !codings.isEmpty else { return nil }
        // Without framing, the body ends when the connection closes, so an empty body may have been truncated.
        let mayBeEmpty = isFramed || headers.contains(.contentLength) || headers.contains(.transferEncoding)
        return Unpacking(codings, limits, mayBeEmpty: mayBeEmpty)
      } catch {
        return Unpacking(failing: error)
      }
    }
  }
#endif
