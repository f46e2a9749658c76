public import ErrandFoundation

/// The lines of a body, as they come; what ``HTTPResponseBody/lines(upTo:)`` gives.
public struct BodyLines: AsyncSequence, Sendable {
  /// A line without its end, in UTF-8; bytes that are none are replaced.
  public typealias Element = String

  private let body: HTTPResponseBody
  private let limit: Int
  /// False where bytes that are no UTF-8 are an error.
  private let repairs: Bool

  init(_ body: HTTPResponseBody, limit: Int, repairs: Bool = true) {
    self.body = body
    self.limit = limit
    self.repairs = repairs
  }

  /// Begins to read.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(body, limit, repairs) }

  /// Reads lines; ends the transfer when it is released before the end.
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

    /// The next line; nil at the end.
    /// Throws ``HTTPBodyLimitError`` for a line that is too long, and the error of the transfer.
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
          .decodingFailed, "a line of \(line.count) bytes is not in UTF-8, as JSON is (RFC 8259 §8.1)",
          phase: .receiving))
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
  ///   - decoder: Decodes each of them. What it throws ends the loop, and the transfer; the error shows nothing of the line.
  ///   - limit: The most bytes of a line: a longer one throws ``HTTPBodyLimitError``.
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

/// Counts the lines of a body.
private final class LineCount: Sendable {
  private let state = Lock(0)

  /// The number of the next line, from 1.
  func next() -> Int {
    state.withLock { number in
      number += 1
      return number
    }
  }
}
