import ErrandFoundation

/// Divides bytes that come in pieces into lines; pure. Each byte is looked at once.
struct LineSplitter {
  /// The ends of lines that count.
  enum Ends {
    /// LF, and CR LF.
    case lineFeeds
    /// LF, CR LF, and CR alone, as server-sent events have them.
    case any
  }

  private let ends: Ends
  private let limit: Int
  private var line: [UInt8] = []
  /// True when the last byte was a CR that has ended a line: an LF behind it belongs to it.
  private var hasEndedWithReturn = false
  /// A line was longer than the limit, behind lines that were handed over.
  private var isTooLong = false

  /// - Parameter limit: The most bytes of a line.
  init(_ ends: Ends, limit: Int) {
    self.ends = ends
    self.limit = limit
  }

  /// The lines that end in `data`, without their ends.
  /// Throws ``HTTPBodyLimitError`` for a line that is longer than the limit, once those before it were handed over.
  mutating func lines(endingIn data: Data) throws -> [[UInt8]] {
    try check()
    var lines: [[UInt8]] = []
    for byte in data {
      defer { hasEndedWithReturn = ends == .any && byte == Self.carriageReturn }
      switch byte {
      case Self.lineFeed where hasEndedWithReturn: continue
      case Self.lineFeed:
        if ends == .lineFeeds, line.last == Self.carriageReturn { line.removeLast() }
        lines.append(take())
      case Self.carriageReturn where ends == .any: lines.append(take())
      default:
        // A CR may be the beginning of the line's end.
        guard line.count < limit || (byte == Self.carriageReturn && line.count == limit) else {
          isTooLong = true
          if lines.isEmpty { try check() }
          return lines
        }
        line.append(byte)
      }
    }
    return lines
  }

  /// Throws ``HTTPBodyLimitError`` where a line was too long.
  func check() throws { if isTooLong { throw HTTPBodyLimitError(limit: limit) } }

  /// What stands behind the last end; nil where nothing does.
  mutating func rest() -> [UInt8]? { line.isEmpty ? nil : take() }

  private mutating func take() -> [UInt8] {
    defer { line = [] }
    return line
  }

  private static let lineFeed = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")
}
