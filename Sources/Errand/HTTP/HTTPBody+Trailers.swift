extension HTTPBody {
  /// The names of the fields that follow the body; empty for most, which have none. For transports.
  public var trailerNames: [HTTPHeaderName] { trailers?.names ?? [] }

  /// The fields that follow a body (RFC 9110 §6.5).
  package struct Trailers: Sendable {
    /// The names that are announced.
    package let names: [HTTPHeaderName]
    let make: @Sendable () async throws -> HTTPHeaders

    /// The value of `Trailer`.
    package var announcement: String { names.map(\.rawName).joined(separator: ", ") }

    /// The name that cannot stand after a body; nil where all can.
    package var forbidden: HTTPHeaderName? { names.first { !$0.isValid || Self.ofHead.contains($0) } }

    // RFC 9110 §6.5.1: fields for framing, routing, modifiers, authentication, control of the response, and the content's format
    // are read before the content is.
    private static let ofHead: Set<HTTPHeaderName> = [
      .contentLength, .transferEncoding, .connection, .host, "Keep-Alive", "Proxy-Connection", "TE", "Trailer",
      "Upgrade",
      .cacheControl, .expect, "Max-Forwards", "Pragma", .range, .ifRange, "If-Match", .ifNoneMatch, .ifModifiedSince,
      "If-Unmodified-Since", .authorization, .proxyAuthorization, .cookie, .setCookie, .wwwAuthenticate,
      .proxyAuthenticate, "Age", .date, "Expires", .location, .retryAfter, .vary, "Warning", .contentEncoding,
      .contentType, .contentRange,
    ]
  }

  /// The same body with fields after it, such as a checksum that is known only once it was read (RFC 9110 §6.5).
  ///
  ///     .file(backup).trailers(["X-SHA256"]) { ["X-SHA256": await sum.hexadecimal] }
  ///
  /// The body goes in chunks over HTTP/1.1, whatever the server speaks besides, and URLSession refuses it: neither libcurl nor
  /// URLSession sends such fields otherwise. Few servers read them.
  ///
  /// - Parameters:
  ///   - names: The names, which are announced in `Trailer`. One that has to be known before the body, such as `Content-Type` or
  ///     `Authorization`, fails the call.
  ///   - make: Makes the fields when the body has ended, for each attempt anew; it may leave some out.
  public func trailers(
    _ names: [HTTPHeaderName], _ make: @escaping @Sendable () async throws -> HTTPHeaders
  ) -> HTTPBody {
    .composed(
      length: nil, isReplayable: isReplayable, type: mediaType,
      trailers: names.isEmpty ? nil : Trailers(names: names, make: make), isProduced: true
    ) { [self] sink in try await forEachChunk(sink) }
  }
}
