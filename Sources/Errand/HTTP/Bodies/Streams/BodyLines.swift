public import ErrandFoundation

/// The lines of a body, as they arrive; see ``HTTPResponseBody/lines(upTo:)``.
public struct BodyLines: AsyncSequence, Sendable {
  /// A line without its line break. Invalid UTF-8 is replaced.
  public typealias Element = String

  private let body: HTTPResponseBody
  private let limit: Int
  /// Whether invalid UTF-8 is replaced. If `false`, it is an error.
  private let repairs: Bool

  init(_ body: HTTPResponseBody, limit: Int, repairs: Bool = true) {
    self.body = body
    self.limit = limit
    self.repairs = repairs
  }

  /// Starts reading.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body, limit, repairs) }

  /// Reads the lines. Releasing the iterator before the end cancels the transfer.
  public struct AsyncIterator: AsyncIteratorProtocol {
    private let body: HTTPResponseBody
    private let chunks: HTTPResponseBody.AsyncIterator
    private var splitter: LineSplitter
    private var lines: ArraySlice<[UInt8]> = []
    private let repairs: Bool

    init(_ body: HTTPResponseBody, _ limit: Int, _ repairs: Bool) {
      self.body = body
      chunks = body.makeAsyncIterator()
      splitter = LineSplitter(.lineFeeds, limit: limit)
      self.repairs = repairs
    }

    /// Returns the next line, or `nil` at the end.
    ///
    /// Throws ``HTTPBodyLimitError`` if a line is too long, or an error of the transfer.
    public mutating func next() async throws -> String? {
      while lines.isEmpty {
        try splitter.check()
        guard let chunk = try await chunks.next() else { return try splitter.rest().map { try text($0) } }
        lines = try splitter.lines(endingIn: chunk)[...]
      }
      return try lines.popFirst().map { try text($0) }
    }

    private func text(_ line: [UInt8]) throws -> String {
      if repairs { return String(decoding: line, as: UTF8.self) }
      if let text = String(bytes: line, encoding: .utf8) { return text }
      throw body.explained(
        TaskError(
          .decodingFailed, "a line of \(line.count) bytes is not valid UTF-8, which JSON requires (RFC 8259 §8.1)",
          phase: .receiving))
    }
  }
}

extension HTTPResponseBody {
  /// Returns the lines of the body, as they arrive, without the line breaks (LF or CR LF). A slow reader slows down the
  /// server. Leaving the loop early cancels the transfer.
  ///
  ///     for try await line in try await Log().stream().body.lines() { … }
  ///
  /// - Parameter limit: The maximum number of bytes in a line. A longer line throws ``HTTPBodyLimitError``. Defaults to
  ///   1 MiB.
  public func lines(upTo limit: Int = 1 << 20) -> BodyLines { BodyLines(self, limit: limit) }

  /// Returns the values of a body with one JSON value per line (JSON Lines, NDJSON), as they arrive. Empty lines are
  /// skipped.
  ///
  ///     for try await entry in try await Log().stream().body.jsonLines(of: Entry.self) { … }
  ///
  /// - Parameters:
  ///   - type: The type of the values.
  ///   - decoder: Decodes each line. An error ends the loop and the transfer, and contains no part of the line.
  ///   - limit: The maximum number of bytes in a line. A longer line throws ``HTTPBodyLimitError``. Defaults to 1 MiB.
  public func jsonLines<Value: Decodable & Sendable>(
    of type: Value.Type = Value.self, decoder: any PayloadDecoder = JSONDecoder(), upTo limit: Int = 1 << 20
  ) -> AsyncThrowingCompactMapSequence<BodyLines, Value> {
    let count = LineCount()
    return BodyLines(self, limit: limit, repairs: false).compactMap { line in
      let number = count.next()
      guard line.utf8.contains(where: { !" \t\r".utf8.contains($0) }) else { return nil }
      do {
        return try PayloadCoding.decode(
          type, from: Data(line.utf8), origin: "in line \(number)", with: decoder, redaction: nil)
      } catch {
        throw self.explained(error)
      }
    }
  }
}

private final class LineCount: Sendable {
  private let state = Lock(0)

  func next() -> Int {
    state.withLock { number in
      number += 1
      return number
    }
  }
}
