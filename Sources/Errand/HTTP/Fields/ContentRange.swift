/// The `Content-Range` field, which says what range of a representation a response contains (RFC 9110 §14.4).
public struct ContentRange: Sendable, Hashable {
  /// The positions of the bytes, counted from 0.
  public let positions: ClosedRange<Int>
  /// The length of the complete representation in bytes, or `nil` if the sender doesn't know it.
  public let length: Int?

  /// Parses `Content-Range`. Returns `nil` if the field is missing or malformed, or uses another unit.
  package init?(_ headers: HTTPHeaders) {
    guard let (range, complete) = Self.parts(headers) else { return nil }
    let bounds = range.split(separator: "-", omittingEmptySubsequences: false).map { $0.trimmingSpaces() }
    guard bounds.count == 2, let first = ByteRange.position(bounds[0]), let last = ByteRange.position(bounds[1]),
      first <= last
    else { return nil }
    guard complete != "*" else {
      (positions, length) = (first...last, nil)
      return
    }
    guard let length = ByteRange.position(complete), last < length else { return nil }
    (positions, self.length) = (first...last, length)
  }

  /// Returns the complete length from the response to an unsatisfiable range, such as `bytes */1024` (RFC 9110
  /// §15.5.17), or `nil` if it is missing.
  package static func completeLength(_ headers: HTTPHeaders) -> Int? {
    guard let (range, complete) = parts(headers), range == "*" else { return nil }
    return ByteRange.position(complete)
  }

  /// Returns the text before and after the slash. Whitespace is allowed except within a number.
  private static func parts(_ headers: HTTPHeaders) -> (range: Substring, complete: Substring)? {
    guard let line = headers.single(.contentRange)?[...].trimmingSpaces(), line.lowercased().hasPrefix("bytes") else {
      return nil
    }
    let rest = line.dropFirst(5)
    let parts = rest.split(separator: "/", omittingEmptySubsequences: false).map { $0.trimmingSpaces() }
    guard rest.first == " " || rest.first == "\t", parts.count == 2 else { return nil }
    return (parts[0], parts[1])
  }

  /// Whether the received range starts where the requested range starts and doesn't extend past its end.
  func answers(_ range: ByteRange) -> Bool {
    switch range.bounds {
    case .from(let first, let last): positions.lowerBound == first && positions.upperBound <= last ?? .max
    case .suffix(let count): length.map { positions.upperBound == $0 - 1 && positions.count <= count } ?? true
    }
  }
}

extension HTTPResponse {
  /// The range of the representation that the body contains. `nil` if the response is complete, contains several
  /// ranges, or has an invalid `Content-Range`.
  ///
  /// Always `nil` unless the status is 206, because the field has no meaning with any other status (RFC 9110 §14.4).
  public var contentRange: ContentRange? { status == .partialContent ? ContentRange(headers) : nil }

  /// The size of the received range in bytes. `nil` if `Content-Range` is missing or the body is compressed.
  var sizeOfPart: Int? { headers.isCompressed ? nil : contentRange?.positions.count }

  /// Returns the reason why a 206 or 304 response doesn't match the request. Returns `nil` if it matches, or for any
  /// other status.
  func mismatch(with request: HTTPRequest) -> String? {
    switch status {
    case .partialContent: return refusedPart(of: request)
    case .notModified where !request.headers.contains(.ifNoneMatch) && !request.headers.contains(.ifModifiedSince):
      // RFC 9110 §15.4.5: a 304 is only valid for a conditional request.
      return
        "the request has neither If-None-Match nor If-Modified-Since, so this status is not allowed: check the server, or a cache in front of it"
    default: return nil
    }
  }

  /// Returns the reason why this 206 response isn't the requested range, or `nil` if it is (RFC 9110 §15.3.7).
  private func refusedPart(of request: HTTPRequest) -> String? {
    guard let asked = request.headers[.range] else {
      return "the server sent partial content, but the request has no Range"
    }
    // A request for several ranges gets a multipart response.
    guard let range = ByteRange(request.headers) else { return nil }
    let sent = headers[.contentRange].map { "Content-Range '\($0.shortened)'" } ?? "no Content-Range"
    guard let part = ContentRange(headers), part.answers(range) else {
      return "the server sent the wrong range: requested '\(asked)', got \(sent)"
    }
    if let length = headers.number(.contentLength), length != part.positions.count, !headers.isCompressed {
      return "Content-Length \(length) does not match \(sent)"
    }
    return nil
  }
}
