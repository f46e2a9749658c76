public import ErrandFoundation

/// Limits for reading a multipart body.
public struct MultipartLimits: Sendable, Hashable {
  /// The maximum number of parts.
  public var parts: Int
  /// The maximum number of bytes in a part's header, and in the preamble.
  public var headerSize: Int
  /// The maximum number of bytes in a part's encoded body, whether it is read or skipped. `.max` means no limit.
  public var bodySize: Int

  /// Creates limits. Defaults to 10,000 parts, 16 KiB per header, and no limit on a part's body, which is streamed.
  public init(parts: Int = 10_000, headerSize: Int = 16 << 10, bodySize: Int = .max) {
    self.parts = parts
    self.headerSize = headerSize
    self.bodySize = bodySize
  }
}

/// A part of a multipart body, with its header and its streamed body.
public struct MultipartPart: Sendable {
  /// The header fields, in order. `Content-Transfer-Encoding` is removed if ``body`` has been decoded.
  public let headers: HTTPHeaders
  /// The body, decoded from `base64` or `quoted-printable`. Requesting the next part skips the rest of this body.
  public let body: MultipartPartBody

  /// The media type. Defaults to `text/plain` if the header has none (RFC 2046 §5.1).
  public var mediaType: MediaType { headers.mediaType ?? "text/plain" }
  /// The `Content-Disposition` field. If there are several, the first one is used. Names in forms can use the escaping
  /// of browsers, curl, Python or ``MultipartForm``.
  public var disposition: ContentDisposition? {
    headers.values(for: .contentDisposition).first.flatMap { ContentDisposition(ofPart: $0) }
  }

  /// A safe name for saving the part as a file: the last path component of the name in `Content-Disposition`, or
  /// `download`. If the name has no extension, the extension of the declared media type is added. See
  /// ``HTTPResponse/suggestedFileName``.
  public var suggestedFileName: String {
    SafeFileName.suggestion(of: [disposition?.fileName], for: headers.mediaType)
  }
}

/// The parts of a multipart body, as they arrive; see ``HTTPResponse/parts(limits:)``.
public struct MultipartParts: AsyncSequence, Sendable {
  /// A part.
  public typealias Element = MultipartPart

  private let body: HTTPResponseBody
  private let parser: MultipartParser

  init(_ body: HTTPResponseBody, _ parser: MultipartParser) {
    self.body = body
    self.parser = parser
  }

  /// Starts reading.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: MultipartBodyReader(body, parser)) }

  /// Reads the parts. Releasing the iterator before the end cancels the transfer.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let reader: MultipartBodyReader

    /// Returns the next part, or `nil` after the last one. Skips the rest of the previous part.
    ///
    /// Throws ``TaskError`` with code `.badResponse` if the body is malformed or has too many parts, `.bodyTooLarge` if
    /// a part's body exceeds its limit, and `.truncatedBody` if the body ends before its closing delimiter. Also throws
    /// the errors of the transfer.
    public mutating func next() async throws -> MultipartPart? { try await reader.nextPart() }
  }
}

/// The body of a part, as chunks. It can only be read once.
public struct MultipartPartBody: AsyncSequence, Sendable {
  /// A chunk, never empty.
  public typealias Element = Data

  let reader: MultipartBodyReader
  let place: MultipartBodyReader.Place

  /// Returns the rest of the body. Throws ``HTTPBodyLimitError`` if it is longer than `limit` bytes, or any error
  /// thrown by ``AsyncIterator/next()``.
  public func collect(upTo limit: Int = 16 << 20) async throws -> Data {
    var all = Data()
    for try await chunk in self {
      all += chunk
      if all.count > limit { throw HTTPBodyLimitError(limit: limit) }
    }
    return all
  }

  /// Starts or continues reading.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body: self) }

  /// Reads the body of a part.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let body: MultipartPartBody

    /// Returns the next chunk, or `nil` at the end of the part.
    ///
    /// Throws the same errors as ``MultipartParts/AsyncIterator/next()``, and ``TaskError`` with code `.unreadableBody`
    /// if the next part was requested before this part was read.
    public mutating func next() async throws -> Data? { try await body.reader.nextChunk(at: body.place) }
  }
}

/// Reads a multipart body. Shared by all of its parts.
actor MultipartBodyReader {
  /// Identifies a part. It lives as long as the part.
  final class Place: Sendable {
    let number: Int
    /// Whether the next part was requested before this part was read completely.
    let isPassedOver = Lock(false)

    init(_ number: Int) { self.number = number }
  }

  private let body: HTTPResponseBody
  private let chunks: HTTPResponseBody.AsyncIterator
  private var parser: MultipartParser
  private var place = Place(0)
  private var isInPart = false
  private var isReading = false
  private var decoder: PartDecoder?

  init(_ body: HTTPResponseBody, _ parser: MultipartParser) {
    self.body = body
    chunks = body.makeAsyncIterator()
    self.parser = parser
  }

  func nextPart() async throws -> MultipartPart? {
    while let event = try await nextEvent() {
      switch event {
      case .part(var headers):
        place = Place(place.number + 1)
        isInPart = true
        decoder = PartDecoder(headers)
        if decoder != nil { headers.remove(.contentTransferEncoding) }
        return MultipartPart(headers: headers, body: MultipartPartBody(reader: self, place: place))
      case .endOfPart: isInPart = false
      case .data: place.isPassedOver.withLock { $0 = true }
      case .end: return nil
      }
    }
    return nil
  }

  func nextChunk(at place: Place) async throws -> Data? {
    guard !place.isPassedOver.withLock({ $0 }) else {
      throw Self.refusal("part \(place.number) was skipped: read it before requesting the next one")
    }
    guard place === self.place, isInPart else { return nil }
    while case .data(let chunk) = try await nextEvent() {
      let content = try decoded { try $0.decode(chunk) } ?? chunk
      if !content.isEmpty { return content }
    }
    isInPart = false
    let rest = try decoded { try $0.finish() } ?? Data()
    return rest.isEmpty ? nil : rest
  }

  private func decoded(_ decode: (inout PartDecoder) throws -> Data) throws -> Data? {
    guard var decoder else { return nil }
    defer { self.decoder = decoder }
    do {
      return try decode(&decoder)
    } catch {
      throw body.explained(error)
    }
  }

  private static func refusal(_ words: String) -> TaskError {
    TaskError(.unreadableBody, words, phase: .receiving)
  }

  private func nextEvent() async throws -> MultipartParser.Event? {
    guard !isReading else {
      throw Self.refusal("two tasks read the multipart body concurrently: read its parts one at a time")
    }
    isReading = true
    defer { isReading = false }
    do {
      return try await readEvent()
    } catch {
      throw body.explained(error)
    }
  }

  private func readEvent() async throws -> MultipartParser.Event? {
    var isAtEnd = false
    while true {
      if let event = try parser.next() { return event }
      if parser.isComplete { return nil }
      guard !isAtEnd else {
        throw TaskError(.truncatedBody, "the multipart body ends before its last delimiter", phase: .receiving)
      }
      if let chunk = try await chunks.next() {
        parser.append(chunk)
      } else {
        parser.finish()
        isAtEnd = true
      }
    }
  }
}

extension HTTPResponse {
  /// Returns the parts of a multipart body, as they arrive.
  ///
  ///     for try await part in try response.parts() { try await save(part.headers, part.body.collect()) }
  ///
  /// In `multipart/x-mixed-replace`, the format of IP cameras, the first delimiter may be missing. A part with a
  /// `Content-Length` ends after that many bytes, without waiting for the next delimiter.
  ///
  /// - Throws: ``TaskError`` with code `.badResponse` if the media type is not multipart, or has no boundary of 1 to 70
  ///   characters (RFC 2046 §5.1.1).
  public func parts(limits: MultipartLimits = MultipartLimits()) throws -> MultipartParts {
    let boundary = (mediaType?.parameter("boundary") ?? "")[...].trimmingSpaces()
    guard mediaType?.essence.hasPrefix("multipart/") == true, (1...70).contains(boundary.utf8.count) else {
      throw body.explained(
        MultipartParser.refusal(
          "its media type, '\(mediaType?.rawValue.shortened ?? "")', is not multipart or has no valid boundary"))
    }
    let isPushed = mediaType?.essence == "multipart/x-mixed-replace"
    return MultipartParts(body, MultipartParser(boundary: String(boundary), limits: limits, isPushed: isPushed))
  }
}
