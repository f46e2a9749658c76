import ErrandFoundation

/// Splits a stream of bytes into lines. Each byte is read once.
struct LineSplitter {
  enum Ends {
    /// LF and CR LF.
    case lineFeeds
    /// LF, CR LF and CR, as in server-sent events.
    case any
  }

  private let ends: Ends
  private let limit: Int
  private var line: [UInt8] = []
  /// Whether the last byte was a CR that ended a line. An LF that follows belongs to the same line break.
  private var hasEndedWithReturn = false
  /// Whether a line exceeded the limit. The error is thrown after the earlier lines have been delivered.
  private var isTooLong = false

  /// - Parameter limit: The maximum number of bytes in a line.
  init(_ ends: Ends, limit: Int) {
    self.ends = ends
    self.limit = limit
  }

  /// Returns the lines that end in `data`, without their line breaks. Throws ``HTTPBodyLimitError`` if a line exceeds
  /// the limit, after the earlier lines have been returned.
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
        // A CR may be the start of the line break.
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

  func check() throws { if isTooLong { throw HTTPBodyLimitError(limit: limit) } }

  /// Returns the bytes after the last line break, or `nil` if no bytes follow it.
  mutating func rest() -> [UInt8]? { line.isEmpty ? nil : take() }

  private mutating func take() -> [UInt8] {
    defer { line = [] }
    return line
  }

  private static let lineFeed = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")
}
