public import ErrandFoundation

/// The limits for reading a multipart body.
public struct MultipartLimits: Sendable, Hashable {
  /// The maximum number of parts.
  public var parts: Int
  /// The maximum number of bytes of a part's header, and of what comes before the first part.
  public var headerSize: Int
  /// The maximum number of bytes of a part's body as it comes, read or skipped. `.max` is no limit.
  public var bodySize: Int

  /// Limits; 10,000 parts and 16 KiB of header unless stated. A part's body may then be of any size: it is not held.
  public init(parts: Int = 10_000, headerSize: Int = 16 << 10, bodySize: Int = .max) {
    self.parts = parts
    self.headerSize = headerSize
    self.bodySize = bodySize
  }
}

/// A part of a multipart body: its header, and its body as it comes.
public struct MultipartPart: Sendable {
  /// The header fields, in order. `Content-Transfer-Encoding` is missing if ``body`` is decoded.
  public let headers: HTTPHeaders
  /// The body, without its `base64` or `quoted-printable` encoding. Read it before you request the next part, which skips the rest of it.
  public let body: MultipartPartBody

  /// The media type; `text/plain` where the header has none (RFC 2046 §5.1).
  public var mediaType: MediaType { headers.mediaType ?? "text/plain" }
  /// The `Content-Disposition` field. In a form, names are read as browsers, curl, Python and ``MultipartForm`` write them.
  /// Of several fields the first counts.
  public var disposition: ContentDisposition? {
    headers.values(for: .contentDisposition).first.flatMap { ContentDisposition(ofPart: $0) }
  }

  /// A name for a file with this part, safe to be used in any folder: the last part of what `Content-Disposition` says, else
  /// `download`; with the extension of the stated media type where it has none. Made as ``HTTPResponse/suggestedFileName`` is.
  public var suggestedFileName: String {
    SafeFileName.suggestion(of: [disposition?.fileName], for: headers.mediaType)
  }
}

/// The parts of a multipart body, as they come; what ``HTTPResponse/parts(limits:)`` gives.
public struct MultipartParts: AsyncSequence, Sendable {
  /// A part.
  public typealias Element = MultipartPart

  private let body: HTTPResponseBody
  private let parser: MultipartParser

  init(_ body: HTTPResponseBody, _ parser: MultipartParser) {
    self.body = body
    self.parser = parser
  }

  /// Begins to read.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(reader: MultipartBodyReader(body, parser)) }

  /// Gives part after part; ends the transfer when it is released before the end.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let reader: MultipartBodyReader

    /// The next part; nil after the last. What was not read of the one before is passed over.
    /// Throws ``TaskError`` with code `.badResponse` for a malformed body or too many parts, `.bodyTooLarge` where the body of a part
    /// exceeds its limit, `.truncatedBody` where all ends before its last delimiter, and the error of the transfer.
    public mutating func next() async throws -> MultipartPart? { try await reader.nextPart() }
  }
}

/// The body of a part: chunks as they come, read once.
public struct MultipartPartBody: AsyncSequence, Sendable {
  /// A chunk, never empty.
  public typealias Element = Data

  let reader: MultipartBodyReader
  let place: MultipartBodyReader.Place

  /// All that is left of the body.
  /// Throws ``HTTPBodyLimitError`` past `limit` bytes, and what reading throws.
  public func collect(upTo limit: Int = 16 << 20) async throws -> Data {
    var all = Data()
    for try await chunk in self {
      all += chunk
      if all.count > limit { throw HTTPBodyLimitError(limit: limit) }
    }
    return all
  }

  /// Begins, or goes on, to read.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body: self) }

  /// Reads the body of a part.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let body: MultipartPartBody

    /// The next chunk; nil at the end of the part.
    /// Throws what ``MultipartParts/AsyncIterator/next()`` throws, and ``TaskError`` with code `.unreadableBody` where the next part
    /// was requested before this one was read.
    public mutating func next() async throws -> Data? { try await body.reader.nextChunk(at: body.place) }
  }
}

/// Reads a multipart body; shared by all of its parts.
actor MultipartBodyReader {
  /// The place of a part in its body. It lives as long as the part.
  final class Place: Sendable {
    /// Counted from 1.
    let number: Int
    /// True once the next part was requested before this one was read to its end.
    let isPassedOver = Lock(false)

    init(_ number: Int) { self.number = number }
  }

  private let body: HTTPResponseBody
  private let chunks: HTTPResponseBody.AsyncIterator
  private var parser: MultipartParser
  /// The part whose body comes next.
  private var place = Place(0)
  private var isInPart = false
  private var isReading = false
  /// Decodes the body of the part. `nil` if it is not encoded.
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
      throw Self.refusal("part \(place.number) was passed over: read it before the next one is asked for")
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

  /// The next event; nil once all is read.
  private func nextEvent() async throws -> MultipartParser.Event? {
    guard !isReading else { throw Self.refusal("two read the multipart body at once: read one part after the other") }
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
  /// The parts of a multipart body, as they come.
  ///
  ///     for try await part in try response.parts() { try await save(part.headers, part.body.collect()) }
  ///
  /// A stream of `multipart/x-mixed-replace` is read as cameras write it. The first delimiter may be missing, and the body of a part
  /// ends with the bytes of its `Content-Length`, before the next delimiter is there.
  ///
  /// - Throws: ``TaskError`` with code `.badResponse` if the media type is not multipart, or names no boundary of up to 70
  ///   characters (RFC 2046 §5.1.1).
  public func parts(limits: MultipartLimits = MultipartLimits()) throws -> MultipartParts {
    let boundary = (mediaType?.parameter("boundary") ?? "")[...].trimmingSpaces()
    guard mediaType?.essence.hasPrefix("multipart/") == true, (1...70).contains(boundary.utf8.count) else {
      throw body.explained(
        MultipartParser.refusal(
          "its media type, '\(mediaType?.rawValue.shortened ?? "")', is no multipart with a boundary"))
    }
    let isPushed = mediaType?.essence == "multipart/x-mixed-replace"
    return MultipartParts(body, MultipartParser(boundary: String(boundary), limits: limits, isPushed: isPushed))
  }
}
