@testable import Errand
import ErrandFoundation

extension FuzzTarget {
  /// Server-sent events.
  static let events = FuzzTarget(
    "events",
    hostile: [
      repeating("data\n"), repeating("data: a\n\n"), repeating("id: a\n"), repeating("\r"), repeating(":\n"),
      repeating("event: a\ndata\nid\n\n"), repeating("a", after: "data: "), repeating("retry: 1\n"),
    ],
    parse: { bytes in _ = events([Data(bytes)], limit: .max - 1) },
    check: { bytes in
      for limit in [40, 1 << 20] {
        let all = Pieces.ways(bytes).map { events($0, limit: limit) }
        for other in all.dropFirst() {
          try holds(other.isRefused == all[0].isRefused, "rejection depends on how the input is split")
          guard !other.isRefused else { continue }
          try holds(other == all[0], "\(other) differs from \(all[0])")
        }
        if !all[0].isRefused { try checkEvents(all[0], limit) }
      }
    })

  private struct Events: Equatable {
    var events: [ServerSentEvent] = []
    var retry: Duration?
    var lastID = ""
    var isRefused = false
  }

  private static func events(_ pieces: [Data], limit: Int) -> Events {
    var parser = EventStreamParser(limit: limit)
    var result = Events()
    do {
      for piece in pieces { result.events += try parser.events(endingIn: piece) }
      try parser.check()
    } catch {
      result.isRefused = true
    }
    (result.retry, result.lastID) = (parser.retry, parser.lastID)
    return result
  }

  private static func checkEvents(_ read: Events, _ limit: Int) throws {
    var text = ""
    for event in read.events {
      // The ID is sent back as a header value.
      try holds(!event.id.breaksLine, "an ID has a line break: \(event.id.debugDescription)")
      try holds(!event.name.isEmpty && !event.name.utf8.contains { $0 == 0x0A || $0 == 0x0D }, "\(event)")
      try holds(!event.data.utf8.contains(0x0D), "\(event)")
      if event.name != "message" { text += "event: \(event.name)\n" }
      let lines = event.data.utf8.split(separator: 0x0A, omittingEmptySubsequences: false)
      text += lines.map { "data: \(Substring($0))\n" }.joined() + "id: \(event.id)\n\n"
    }
    // Replacement characters are longer than the invalid bytes.
    let again = events([Data(text.utf8)], limit: limit * 4)
    try holds(again.events == read.events, "\(read.events), written again, becomes \(again.events)")
    try holds(read.retry.map { $0 >= .zero } ?? true, "the retry delay is \(String(describing: read.retry))")
  }

  /// Lines, each with a JSON value.
  static let lines = FuzzTarget(
    "lines",
    hostile: [repeating("\n"), repeating("\r\n"), repeating("\r"), repeating("a"), repeating("[1]\n"), repeating("[")],
    parse: { bytes in
      for ends in [LineSplitter.Ends.any, .lineFeeds] { _ = dividing([Data(bytes)], ends, limit: .max) }
    },
    check: { bytes in
      for ends in [LineSplitter.Ends.any, .lineFeeds] {
        let all = Pieces.ways(bytes).map { dividing($0, ends, limit: 1 << 20) }
        for other in all.dropFirst() { try holds(other == all[0], "the lines depend on how the input is split") }
        let short = Pieces.ways(bytes).map { dividing($0, ends, limit: 9) == nil }
        try holds(Set(short).count == 1, "rejection depends on how the input is split")
        try checkLines(all[0] ?? [], ends)
      }
      for line in dividing([Data(bytes)], .lineFeeds, limit: 1 << 20) ?? [] {
        let decoder = JSONDecoder()
        _ = try? PayloadCoding.decode(
          JSONTree.self, from: Data(line), mediaType: .json, with: decoder, redaction: .standard)
      }
    })

  /// Returns the lines and the rest after the last line end, or `nil` if a line is too long.
  private static func dividing(_ pieces: [Data], _ ends: LineSplitter.Ends, limit: Int) -> [[UInt8]]? {
    var splitter = LineSplitter(ends, limit: limit)
    var lines: [[UInt8]] = []
    do {
      for piece in pieces { lines += try splitter.lines(endingIn: piece) }
      try splitter.check()
    } catch {
      return nil
    }
    return lines + [splitter.rest() ?? []]
  }

  private static func checkLines(_ lines: [[UInt8]], _ ends: LineSplitter.Ends) throws {
    for line in lines {
      try holds(!line.contains(0x0A) && (ends == .lineFeeds || !line.contains(0x0D)), "a line contains a line end")
    }
    let again = dividing([Data(lines.joined(separator: "\r\n".utf8))], ends, limit: 1 << 20)
    try holds(again == lines, "the joined lines are split differently")
  }
}
