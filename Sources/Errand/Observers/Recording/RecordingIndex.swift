import ErrandFoundation

/// The recordings in a folder, ordered by number.
struct RecordingIndex {
  private(set) var entries: [RecordingEntry] = []
  /// The encoded entries, cached so that adding an entry does not encode all others again.
  private var lines: [Data] = []

  init() {}

  /// Reads an index in the format of ``data``. Reuses entries of `known` whose lines have not changed. Fails for any
  /// other format.
  init?(_ data: Data, knowing known: RecordingIndex) {
    guard data.starts(with: "[\n".utf8), data.count >= 4, data.suffix(2).elementsEqual("]\n".utf8) else { return nil }
    let knownEntries = Dictionary(zip(known.lines, known.entries)) { first, _ in first }
    for row in data.dropFirst(2).dropLast(2).split(separator: UInt8(ascii: "\n")) {
      let line = Data(row.last == UInt8(ascii: ",") ? row.dropLast() : row)
      let entry = knownEntries[line] ?? (try? JSONDecoder().decode(RecordingEntry.self, from: line))
      // The line is invalid or was edited by hand.
      guard let entry, entry.isPlain, entry.number > lastNumber else { return nil }
      entries.append(entry)
      lines.append(line)
    }
  }

  /// Reads an index that may have been edited by hand. An invalid index counts as empty. Invalid entries, including
  /// those with an invalid file name, are ignored.
  init(_ data: Data) {
    for entry in (try? JSONDecoder().decode([Line].self, from: data)) ?? [] {
      if let entry = entry.entry, entry.isPlain, entry.number > lastNumber { append(entry) }
    }
  }

  /// Whether an index is empty or contains at least one valid entry.
  static func isSound(_ data: Data) -> Bool {
    guard let lines = try? JSONDecoder().decode([Line].self, from: data) else { return false }
    return lines.isEmpty || lines.contains { $0.entry != nil }
  }

  private struct Line: Decodable {
    let entry: RecordingEntry?

    init(from decoder: any Decoder) throws { entry = try? RecordingEntry(from: decoder) }
  }

  var lastNumber: Int { entries.last?.number ?? 0 }

  mutating func append(_ entry: RecordingEntry) {
    guard let line = Self.line(entry) else { return }
    entries.append(entry)
    lines.append(line)
  }

  mutating func mark(upTo number: Int) {
    for index in entries.indices.prefix(while: { entries[$0].number <= number }) {
      entries[index].isLeaving = true
      lines[index] = Self.line(entries[index]) ?? lines[index]
    }
  }

  private static func line(_ entry: RecordingEntry) -> Data? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try? encoder.encode(entry)  // can't fail: the entry contains only strings, numbers and Booleans
  }

  mutating func remove(where isUnwanted: (RecordingEntry) -> Bool) {
    let kept = entries.indices.filter { !isUnwanted(entries[$0]) }
    guard kept.count < entries.count else { return }
    lines = kept.map { lines[$0] }
    entries = kept.map { entries[$0] }
  }

  /// Returns the oldest entries, which must be removed to meet the limits. The newest entry is never included.
  func surplus(_ limits: RecordingLimits, at now: Date) -> ArraySlice<RecordingEntry> {
    var bytes = entries.reduce(0) { $0 + $1.bytes }
    var dropped = 0
    let oldest = (limits.age > .zero ? now.addingTimeInterval(-limits.age.inSeconds) : .distantPast)
      .formatted(RecordingEntry.dateFormat)
    for entry in entries.dropLast() {
      let isTooMany = limits.count > 0 && entries.count - dropped > limits.count
      let isTooLarge = limits.bytes > 0 && bytes > limits.bytes
      // ISO 8601 dates in UTC sort chronologically.
      let isTooOld = limits.age > .zero && entry.startedAt < oldest
      guard isTooMany || isTooLarge || isTooOld else { break }
      bytes -= entry.bytes
      dropped += 1
    }
    return entries.prefix(dropped)
  }

  /// A JSON array with one entry per line.
  var data: Data {
    var data = Data("[\n".utf8)
    for (position, line) in lines.enumerated() {
      data.append(line)
      data.append(contentsOf: position + 1 < lines.count ? ",\n".utf8 : "\n".utf8)
    }
    data.append(contentsOf: "]\n".utf8)
    return data
  }
}
