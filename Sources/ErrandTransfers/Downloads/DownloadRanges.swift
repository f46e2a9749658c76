import ErrandFoundation

/// The concurrently fetched ranges of a file, with the number of bytes present in each.
///
/// During the download, each range has a mark after the end of the file: its byte count, in eight bytes. A mark is
/// written after the bytes that it counts, so it never counts more bytes than the file contains.
struct DownloadRanges: Codable, Sendable, Equatable {
  struct Part: Codable, Sendable, Equatable {
    let start: Int64
    /// The position after the last byte.
    let end: Int64
    /// The number of bytes present at the start of the range.
    var count: Int64 = 0

    var next: Int64 { start + count }
    var isComplete: Bool { next == end }
  }

  static let markSize = 8
  /// The maximum number of concurrent ranges, regardless of the options.
  static let most = 16
  /// The minimum size of every range except the last. For smaller ranges, a separate request costs more time than it
  /// saves.
  static let smallest: Int64 = 1 << 20
  /// A size larger than any real file. Sums of smaller positions can't overflow.
  private static let largestFile: Int64 = 1 << 60

  private(set) var parts: [Part]

  /// Splits a file into a first range of `head` bytes and up to `count` other ranges of similar size, each at least
  /// `smallest` bytes long. Fails if the file is empty or too large.
  init?(total: Int64, head: Int64, isThere: Bool, count: Int, smallest: Int64 = Self.smallest) {
    guard total > 0, total < Self.largestFile, head > 0, head <= total else { return nil }
    parts = [Part(start: 0, end: head, count: isThere ? head : 0)]
    let rest = total - head
    guard rest > 0 else { return }
    let count = max(1, min(Int64(count), rest / max(1, smallest)))
    let bounds = (0...count).map { head + rest / count * $0 + min($0, rest % count) }
    parts += zip(bounds, bounds.dropFirst()).map { Part(start: $0, end: $1) }
  }

  var total: Int64 { parts.last?.end ?? 0 }

  var present: Int64 { parts.reduce(0) { $0 + $1.count } }

  var isComplete: Bool { parts.allSatisfy(\.isComplete) }

  var lengthWithMarks: Int64 { total + Int64(parts.count * Self.markSize) }

  mutating func add(_ count: Int, to index: Int) { parts[index].count += Int64(count) }

  /// Limits a range's count to `count`.
  mutating func take(_ index: Int, back count: Int64) { parts[index].count = min(parts[index].count, count) }

  // MARK: Marks

  var marks: Data { parts.reduce(into: Data()) { $0.append(Self.mark($1.count)) } }

  static func mark(_ count: Int64) -> Data { withUnsafeBytes(of: count.littleEndian) { Data($0) } }

  func positionOfMark(_ index: Int) -> Int64 { total + Int64(index * Self.markSize) }

  /// Updates the journal's ranges with the counts in `marks`, which can be higher. Returns `nil` if the file and the
  /// journal do not match. Pass `nil` as `marks` if the marks can't be trusted, for example after a system crash.
  func usable(of length: Int64, marks: Data?) -> DownloadRanges? {
    guard isSound, length <= lengthWithMarks, parts.allSatisfy({ $0.count == 0 || $0.next <= length }) else {
      return nil
    }
    // Count only the synchronized bytes if the file has lost its marks, or if they have not been written yet.
    guard let marks, length == lengthWithMarks else { return self }
    guard marks.count == parts.count * Self.markSize else { return nil }
    var usable = self
    for index in parts.indices {
      let bytes = marks.dropFirst(index * Self.markSize).prefix(Self.markSize)
      let count = bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      guard count <= UInt64(parts[index].end - parts[index].start) else { return nil }
      // Keep the higher count: a mark that was lost or only partly written is too low.
      usable.parts[index].count = max(parts[index].count, Int64(count))
    }
    return usable
  }

  /// Whether the ranges are contiguous and nonempty, and start at 0.
  private var isSound: Bool {
    guard (1...Self.most + 1).contains(parts.count), parts.first?.start == 0, total < Self.largestFile else {
      return false
    }
    return zip(parts, parts.dropFirst()).allSatisfy { $0.end == $1.start }
      && parts.allSatisfy { $0.start < $0.end && (0...$0.end - $0.start).contains($0.count) }
  }
}
