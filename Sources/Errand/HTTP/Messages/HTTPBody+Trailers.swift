extension HTTPBody {
  /// The names of the trailer fields. Used by transports. Empty for most bodies.
  public var trailerNames: [HTTPHeaderName] { trailers?.names ?? [] }

  package struct Trailers: Sendable {
    package let names: [HTTPHeaderName]
    let make: @Sendable () async throws -> HTTPHeaders

    package var announcement: String { names.map(\.rawName).joined(separator: ", ") }

    /// The first name that isn't allowed in trailers, or `nil` if all names are allowed.
    package var forbidden: HTTPHeaderName? { names.first { !$0.isValid || Self.ofHead.contains($0) } }

    // RFC 9110 §6.5.1: fields for framing, routing, request modifiers, authentication, response control and the content
    // format are needed before the content.
    private static let ofHead: Set<HTTPHeaderName> = [
      .contentLength, .transferEncoding, .connection, .host, "Keep-Alive", "Proxy-Connection", "TE", "Trailer",
      "Upgrade",
      .cacheControl, .expect, "Max-Forwards", "Pragma", .range, .ifRange, "If-Match", .ifNoneMatch, .ifModifiedSince,
      "If-Unmodified-Since", .authorization, .proxyAuthorization, .cookie, .setCookie, .wwwAuthenticate,
      .proxyAuthenticate, "Age", .date, "Expires", .location, .retryAfter, .vary, "Warning", .contentEncoding,
      .contentType, .contentRange,
    ]
  }

  /// Adds trailer fields, such as a checksum that is only known after the body has been read (RFC 9110 §6.5).
  ///
  ///     .file(backup).trailers(["X-SHA256"]) { ["X-SHA256": await sum.hexadecimal] }
  ///
  /// The body is sent in chunks over HTTP/1.1, even if the server supports newer versions, because this is the only way
  /// libcurl can send trailers. `URLSession` can't send trailers and rejects the body. Few servers read trailers.
  ///
  /// - Parameters:
  ///   - names: The names, which are announced in the `Trailer` field. The call fails if one of the fields must be sent
  ///     before the body, such as `Content-Type` or `Authorization`.
  ///   - make: Returns the fields. Called in each attempt, after the body has been sent. Announced fields can be
  ///     omitted.
  public func trailers(
    _ names: [HTTPHeaderName], _ make: @escaping @Sendable () async throws -> HTTPHeaders
  ) -> HTTPBody {
    .composed(
      length: nil, isReplayable: isReplayable, type: mediaType,
      trailers: names.isEmpty ? nil : Trailers(names: names, make: make), isProduced: true
    ) { [self] sink in try await forEachChunk(sink) }
  }
}
