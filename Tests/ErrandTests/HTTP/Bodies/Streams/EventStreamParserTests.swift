import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Event streams (HTML Standard §9.2.5 and §9.2.6).
@Suite(.timeLimit(.minutes(1))) struct EventStreamParserTests {
  private func events(_ text: String, limit: Int = 1000) throws -> [ServerSentEvent] {
    var parser = EventStreamParser(limit: limit)
    return try parser.events(endingIn: Data(text.utf8))
  }

  private static let streams: [(String, [ServerSentEvent])] = [
    // The examples in §9.2.6.
    ("data: YHOO\ndata: +2\ndata: 10\n\n", [ServerSentEvent(data: "YHOO\n+2\n10")]),
    (
      ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
      [
        ServerSentEvent(data: "first event", id: "1"), ServerSentEvent(data: "second event"),
        ServerSentEvent(data: " third event"),
      ]
    ),
    ("data\n\ndata\ndata\n\ndata:", [ServerSentEvent(data: ""), ServerSentEvent(data: "\n")]),
    ("data:test\n\ndata: test\n\n", [ServerSentEvent(data: "test"), ServerSentEvent(data: "test")]),
    // Other rules.
    ("event: add\ndata: 1\n\ndata: 2\n\n", [ServerSentEvent(name: "add", data: "1"), ServerSentEvent(data: "2")]),
    ("event: add\n\ndata: 2\n\n", [ServerSentEvent(data: "2")]),
    ("id: 7\n\ndata: a\n\n", [ServerSentEvent(data: "a", id: "7")]),
    (
      "id: 7\ndata: a\n\nid: 8\u{0}9\ndata: b\n\n",
      [ServerSentEvent(data: "a", id: "7"), ServerSentEvent(data: "b", id: "7")]
    ),
    ("unknown: x\ndata: a\nDATA: b\n\n", [ServerSentEvent(data: "a")]),
    ("\u{FEFF}data: a\n\n\u{FEFF}data: b\n\n", [ServerSentEvent(data: "a")]),
    ("data: a: b\n\n", [ServerSentEvent(data: "a: b")]),
    ("data: never dispatched\n", []),
  ]

  @Test(arguments: streams, ["\n", "\r\n", "\r"])
  func `parses events as the standard specifies, with any line endings and chunking`(
    stream: (text: String, events: [ServerSentEvent]), end: String
  ) throws {
    let text = stream.text.replacingOccurrences(of: "\n", with: end)
    #expect(try events(text) == stream.events)
    var parser = EventStreamParser(limit: 1000)
    #expect(try text.utf8.flatMap { try parser.events(endingIn: Data([$0])) } == stream.events)
  }

  @Test func `accepts a reconnection time only if it consists of digits`() throws {
    var parser = EventStreamParser(limit: 100)
    for (text, wait) in [("retry: 10\n", 10), ("retry: 1x\n", 10), ("retry:\n", 10), ("retry: 2500\n", 2500)] {
      _ = try parser.events(endingIn: Data(text.utf8))
      #expect(parser.retry == .milliseconds(wait))
    }
  }

  @Test func `a restart resumes after the last complete event`() throws {
    var parser = EventStreamParser(limit: 100)
    _ = try parser.events(endingIn: Data("id: 1\ndata: a\n\nid: 2\nevent: x\ndata: half\nda".utf8))
    parser.restart()
    #expect(parser.lastID == "1")
    #expect(try parser.events(endingIn: Data("\u{FEFF}data: b\n\n".utf8)) == [ServerSentEvent(data: "b", id: "1")])
  }

  @Test func `ignores an identifier that is too long for a header`() throws {
    let longest = String(repeating: "7", count: 4096)
    let read = try events("id: \(longest)\ndata: a\n\nid: 8\(longest)\ndata: b\n\n", limit: 10_000)
    #expect(read.map(\.id) == [longest, longest])
  }

  @Test func `parses events without a size limit`() throws {
    #expect(try events("data: a\ndata: b\n\n", limit: .max).map(\.data) == ["a\nb"])
  }

  @Test func `throws if a line or an event exceeds the limit`() {
    #expect(throws: HTTPBodyLimitError.self) { try events("data: \(String(repeating: "a", count: 100))", limit: 50) }
    let lines = String(repeating: "data: aaaaaaaaa\n", count: 6)
    #expect(throws: HTTPBodyLimitError.self) { try events(lines, limit: 50) }
  }

  @Test func `parses many empty events within a small limit`() throws {
    // Comments, empty data and bare field names must not accumulate.
    let hostile = String(repeating: ":\r\ndata\r\revent\n", count: 1000)
    var parser = EventStreamParser(limit: 100)
    #expect(try parser.events(endingIn: Data(hostile.utf8)).count == 1000)
  }
}
