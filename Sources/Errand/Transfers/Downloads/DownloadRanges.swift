import ErrandFoundation

/// The ranges of a file that comes in several at a time: where each begins and ends, and how much of it is there. Pure.
///
/// While they come, the number of bytes of each is behind the file's last byte, eight bytes a range: a mark is written after the bytes
/// that it counts, so it never says more than is there.
struct DownloadRanges: Codable, Sendable, Equatable {
  struct Part: Codable, Sendable, Equatable {
    /// The position of its first byte.
    let start: Int64
    /// The position behind its last byte.
    let end: Int64
    /// The bytes of it that are there, from its first one on.
    var count: Int64 = 0

    /// The position of the first byte that is missing.
    var next: Int64 { start + count }
    var isComplete: Bool { next == end }
  }

  /// The bytes of a mark.
  static let markSize = 8
  /// The most that are fetched at a time, whatever was asked for.
  static let most = 16
  /// The fewest bytes of each but the last: to ask for less costs more than it brings.
  static let smallest: Int64 = 1 << 20
  /// No file is as large, and positions of those below it can be reckoned with.
  private static let largestFile: Int64 = 1 << 60

  private(set) var parts: [Part]

  /// The ranges of a file; nil where it has no bytes, or more than a file can have.
  ///
  /// - Parameters:
  ///   - total: The length of the file.
  ///   - head: The bytes of its first range.
  ///   - isThere: Whether those are there already.
  ///   - count: The most ranges that the rest has, of about one length.
  ///   - smallest: The fewest bytes of each.
  init?(total: Int64, head: Int64, isThere: Bool, count: Int, smallest: Int64 = Self.smallest) {
    guard total > 0, total < Self.largestFile, head > 0, head <= total else { return nil }
    parts = [Part(start: 0, end: head, count: isThere ? head : 0)]
    let rest = total - head
    guard rest > 0 else { return }
    let count = max(1, min(Int64(count), rest / max(1, smallest)))
    let bounds = (0...count).map { head + rest / count * $0 + min($0, rest % count) }
    parts += zip(bounds, bounds.dropFirst()).map { Part(start: $0, end: $1) }
  }

  /// The length of the file.
  var total: Int64 { parts.last?.end ?? 0 }

  /// The bytes of all that are there.
  var present: Int64 { parts.reduce(0) { $0 + $1.count } }

  var isComplete: Bool { parts.allSatisfy(\.isComplete) }

  /// The length of the file with the marks behind it.
  var lengthWithMarks: Int64 { total + Int64(parts.count * Self.markSize) }

  /// Counts bytes that were written.
  mutating func add(_ count: Int, to index: Int) { parts[index].count += Int64(count) }

  /// Counts so many bytes of a range, where it had more.
  mutating func take(_ index: Int, back count: Int64) { parts[index].count = min(parts[index].count, count) }

  // MARK: Marks

  /// The marks of all of them.
  var marks: Data { parts.reduce(into: Data()) { $0.append(Self.mark($1.count)) } }

  static func mark(_ count: Int64) -> Data { withUnsafeBytes(of: count.littleEndian) { Data($0) } }

  /// The position of a range's mark in the file.
  func positionOfMark(_ index: Int) -> Int64 { total + Int64(index * Self.markSize) }

  /// Those that a file has, by a journal that counts what was synchronised; nil where it cannot be theirs.
  ///
  /// - Parameters:
  ///   - length: The length of the file.
  ///   - marks: What is behind its last byte; nil where that may be older than the bytes before it, as after a crash of the system.
  func usable(of length: Int64, marks: Data?) -> DownloadRanges? {
    guard isSound, length <= lengthWithMarks, parts.allSatisfy({ $0.count == 0 || $0.next <= length }) else {
      return nil
    }
    // One that was made longer lately, or has lost its marks at the end, has what was synchronised.
    guard let marks, length == lengthWithMarks else { return self }
    guard marks.count == parts.count * Self.markSize else { return nil }
    var usable = self
    for index in parts.indices {
      let bytes = marks.dropFirst(index * Self.markSize).prefix(Self.markSize)
      let count = bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      guard count <= UInt64(parts[index].end - parts[index].start) else { return nil }
      // A mark that was not written yet, or half of it, says less than is there.
      usable.parts[index].count = max(parts[index].count, Int64(count))
    }
    return usable
  }

  /// True where they are those of one file, each behind the one before it, and each of at least a byte.
  private var isSound: Bool {
    guard (1...Self.most + 1).contains(parts.count), parts.first?.start == 0, total < Self.largestFile else {
      return false
    }
    return zip(parts, parts.dropFirst()).allSatisfy { $0.end == $1.start }
      && parts.allSatisfy { $0.start < $0.end && (0...$0.end - $0.start).contains($0.count) }
  }
}
