import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct LineSplitterTests {
  private func lines(_ pieces: [String], _ ends: LineSplitter.Ends = .lineFeeds) throws -> [String] {
    var splitter = LineSplitter(ends, limit: 100)
    var lines = try pieces.flatMap { try splitter.lines(endingIn: Data($0.utf8)) }
    if let rest = splitter.rest() { lines.append(rest) }
    return lines.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(arguments: [
    ("a\nb\r\n\nc", ["a", "b", "", "c"], ["a", "b", "", "c"]), ("a\rb\n", ["a\rb"], ["a", "b"]),
    ("\r\r\n\n", ["\r", ""], ["", "", ""]), ("é\r🧵\r", ["é\r🧵\r"], ["é", "🧵"]), ("", [], []), ("\n", [""], [""]),
  ]) func `splits text into lines, regardless of how the text is chunked`(
    text: String, byLineFeeds: [String], byAny: [String]
  ) throws {
    #expect(try lines([text]) == byLineFeeds && lines([text], .any) == byAny)
    let bytes = Array(text.utf8)
    for cut in bytes.indices {
      var splitter = LineSplitter(.any, limit: 100)
      var parts = try splitter.lines(endingIn: Data(bytes[..<cut])) + splitter.lines(endingIn: Data(bytes[cut...]))
      if let rest = splitter.rest() { parts.append(rest) }
      #expect(parts.map { String(decoding: $0, as: UTF8.self) } == byAny)
    }
  }

  @Test func `accepts a line whose length equals the limit`() throws {
    var splitter = LineSplitter(.lineFeeds, limit: 3)
    #expect(try splitter.lines(endingIn: Data("abc\nabc".utf8)).count == 1)
    #expect(throws: HTTPBodyLimitError.self) { try splitter.lines(endingIn: Data("d".utf8)) }
  }

  @Test func `does not count the CR of a CRLF towards the limit`() throws {
    var splitter = LineSplitter(.lineFeeds, limit: 3)
    #expect(try splitter.lines(endingIn: Data("abc\r\nabc\r".utf8)).count == 1)
    #expect(throws: HTTPBodyLimitError.self) { try splitter.lines(endingIn: Data("d".utf8)) }
  }

  @Test(arguments: [["a\nb\nlonger\nc\n"], ["a\n", "b\nlonger\n", "c\n"], ["a\nb\nlonger"]])
  func `yields all lines before an overlong line, regardless of how the body is chunked`(pieces: [String])
    async throws
  {
    let body = HTTPResponseBody(PiecesBody(pieces.map { Data($0.utf8) }))
    var lines: [String] = []
    await #expect(throws: HTTPBodyLimitError.self) { for try await line in body.lines(upTo: 3) { lines.append(line) } }
    #expect(lines == ["a", "b"])
  }

  /// A body that arrives in the given pieces.
  private final class PiecesBody: HTTPBodySource {
    private let pieces: Shared<[Data]>

    init(_ pieces: [Data]) { self.pieces = Shared(pieces) }

    func next() async throws -> Data? { pieces.withLock { $0.isEmpty ? nil : $0.removeFirst() } }

    func cancel() {}
  }

  @Test func `throws for a JSON line that is not UTF-8`() async throws {
    let body = HTTPResponseBody(
      Data([UInt8]("{\"n\":1}\n{\"n\":2,\"a\":\"".utf8) + [0xFF, 0xFE] + [UInt8]("\"}\n".utf8)))
    var count = 0
    let error = await #expect(throws: TaskError.self) {
      for try await _ in body.jsonLines(of: Entry.self) { count += 1 }
    }
    #expect(error?.code == .decodingFailed && error?.reason.contains("UTF-8") == true && count == 1)
  }

  private struct Entry: Codable, Equatable { let n: Int }

  @Test func `yields a body's lines and JSON lines one by one`() async throws {
    var lines: [String] = []
    for try await line in HTTPResponseBody(Data("a\r\n\nb".utf8)).lines() { lines.append(line) }
    #expect(lines == ["a", "", "b"])
    var entries: [Entry] = []
    for try await entry in HTTPResponseBody(Data("{\"n\":1}\n\n \r\n{\"n\":2}".utf8)).jsonLines(of: Entry.self) {
      entries.append(entry)
    }
    #expect(entries == [Entry(n: 1), Entry(n: 2)])
  }

  @Test func `an invalid JSON line ends the loop with an error`() async throws {
    var count = 0
    let error = await #expect(throws: TaskError.self) {
      for try await _ in HTTPResponseBody(Data("{\"n\":1}\nx\n{\"n\":3}".utf8)).jsonLines(of: Entry.self) { count += 1 }
    }
    #expect(count == 1 && error?.code == .decodingFailed)
  }
}
