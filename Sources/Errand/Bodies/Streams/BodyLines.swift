public import ErrandFoundation

/// The lines of a body, as they come; what ``HTTPResponseBody/lines(upTo:)`` gives.
public struct BodyLines: AsyncSequence, Sendable {
  /// A line without its end, in UTF-8; bytes that are none are replaced.
  public typealias Element = String

  private let body: HTTPResponseBody
  private let limit: Int

  init(_ body: HTTPResponseBody, limit: Int) {
    self.body = body
    self.limit = limit
  }

  /// Begins to read.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body, limit: limit) }

  /// Reads lines; ends the transfer when it is released before the end.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let chunks: HTTPResponseBody.AsyncIterator
    private var splitter: LineSplitter
    private var lines: ArraySlice<[UInt8]> = []

    init(_ body: HTTPResponseBody, limit: Int) {
      chunks = body.makeAsyncIterator()
      splitter = LineSplitter(.lineFeeds, limit: limit)
    }

    /// The next line; nil at the end.
    /// Throws ``HTTPBodyLimitError`` for a line that is too long, and the error of the transfer.
    public mutating func next() async throws -> String? {
      while lines.isEmpty {
        guard let chunk = try await chunks.next() else {
          return splitter.rest().map { String(decoding: $0, as: UTF8.self) }
        }
        lines = try splitter.lines(endingIn: chunk)[...]
      }
      return lines.popFirst().map { String(decoding: $0, as: UTF8.self) }
    }
  }
}

extension HTTPResponseBody {
  /// The lines of the body, as they come, without their ends, LF or CR LF. A slow reader makes the server wait; leaving the loop
  /// early ends the transfer.
  ///
  ///     for try await line in try await Log().stream().body.lines() { … }
  ///
  /// - Parameter limit: The most bytes of a line: a longer one throws ``HTTPBodyLimitError``.
  public func lines(upTo limit: Int = 1 << 20) -> BodyLines { BodyLines(self, limit: limit) }

  /// The values of a body that has one in JSON on each line (JSON Lines, NDJSON), as they come. Empty lines are passed over.
  ///
  ///     for try await entry in try await Log().stream().body.jsonLines(of: Entry.self) { … }
  ///
  /// - Parameters:
  ///   - type: The type of the values.
  ///   - decoder: Decodes each of them. What it throws ends the loop, and the transfer.
  ///   - limit: The most bytes of a line: a longer one throws ``HTTPBodyLimitError``.
  public func jsonLines<Value: Decodable & Sendable>(
    of type: Value.Type = Value.self, decoder: any PayloadDecoder = JSONDecoder(), upTo limit: Int = 1 << 20
  ) -> AsyncThrowingCompactMapSequence<BodyLines, Value> {
    lines(upTo: limit).compactMap { line in
      guard line.utf8.contains(where: { !" \t\r".utf8.contains($0) }) else { return nil }
      return try PayloadCoding.decode(
        type, from: Data(line.utf8), mediaType: .json, with: decoder, redaction: .standard)
    }
  }
}
