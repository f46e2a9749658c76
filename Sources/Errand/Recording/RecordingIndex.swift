import ErrandFoundation

/// The list of the recordings in a folder, in the order of their numbers. Pure.
struct RecordingIndex {
  private(set) var entries: [RecordingEntry] = []
  /// The entries as they are written, so that a new one does not make all of them be encoded again.
  private var lines: [Data] = []

  init() {}

  /// Reads an index as ``data`` writes it, without decoding the lines that `known` has; nil for any other.
  init?(_ data: Data, knowing known: RecordingIndex) {
    guard data.starts(with: "[\n".utf8), data.count >= 4, data.suffix(2).elementsEqual("]\n".utf8) else { return nil }
    let knownEntries = Dictionary(zip(known.lines, known.entries)) { first, _ in first }
    for row in data.dropFirst(2).dropLast(2).split(separator: UInt8(ascii: "\n")) {
      let line = Data(row.last == UInt8(ascii: ",") ? row.dropLast() : row)
      let entry = knownEntries[line] ?? (try? JSONDecoder().decode(RecordingEntry.self, from: line))
      // An unreadable line is not ours.
      guard let entry, entry.isPlain, entry.number > lastNumber else { return nil }
      entries.append(entry)
      lines.append(line)
    }
  }

  /// Reads an index. An invalid one, as after an edit by hand, counts as empty. An entry that is invalid, or names a
  /// file that no recording can have, is left out.
  init(_ data: Data) {
    for entry in (try? JSONDecoder().decode([Line].self, from: data)) ?? [] {
      if let entry = entry.entry, entry.isPlain, entry.number > lastNumber { append(entry) }
    }
  }

  /// True for an index that has entries of ours, or none at all.
  static func isSound(_ data: Data) -> Bool {
    guard let lines = try? JSONDecoder().decode([Line].self, from: data) else { return false }
    return lines.isEmpty || lines.contains { $0.entry != nil }
  }

  /// An element of the index, whatever it is.
  private struct Line: Decodable {
    let entry: RecordingEntry?

    // An invalid one is left out.
    init(from decoder: any Decoder) throws { entry = try? RecordingEntry(from: decoder) }
  }

  var lastNumber: Int { entries.last?.number ?? 0 }

  mutating func append(_ entry: RecordingEntry) {
    guard let line = Self.line(entry) else { return }
    entries.append(entry)
    lines.append(line)
  }

  /// Marks the entries up to a number, whose files are about to be removed.
  mutating func mark(upTo number: Int) {
    for index in entries.indices.prefix(while: { entries[$0].number <= number }) {
      entries[index].isLeaving = true
      lines[index] = Self.line(entries[index]) ?? lines[index]
    }
  }

  private static func line(_ entry: RecordingEntry) -> Data? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try? encoder.encode(entry)  // texts and numbers: there is nothing to fail
  }

  mutating func remove(where isUnwanted: (RecordingEntry) -> Bool) {
    let kept = entries.indices.filter { !isUnwanted(entries[$0]) }
    guard kept.count < entries.count else { return }
    lines = kept.map { lines[$0] }
    entries = kept.map { entries[$0] }
  }

  /// The entries that are too many, too old or too large together, from the oldest; never the newest.
  func surplus(_ limits: RecordingLimits, at now: Date) -> ArraySlice<RecordingEntry> {
    var bytes = entries.reduce(0) { $0 + $1.bytes }
    var dropped = 0
    let oldest = (limits.age > .zero ? now.addingTimeInterval(-limits.age.inSeconds) : .distantPast)
      .formatted(RecordingEntry.dateFormat)
    for entry in entries.dropLast() {
      let isTooMany = limits.count > 0 && entries.count - dropped > limits.count
      let isTooLarge = limits.bytes > 0 && bytes > limits.bytes
      // In ISO 8601 and one time zone, what sorts before is earlier.
      let isTooOld = limits.age > .zero && entry.startedAt < oldest
      guard isTooMany || isTooLarge || isTooOld else { break }
      bytes -= entry.bytes
      dropped += 1
    }
    return entries.prefix(dropped)
  }

  /// An array of JSON, one entry a line.
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
