/// A byte range for the `Range` header field (RFC 9110 §14.1.2).
///
///     let head = try await Export().range(.first(1024)).data()
///     let rest = try await Export().range(ByteRange(1024...)).data()
public struct ByteRange: Sendable, Hashable, CustomStringConvertible {
  enum Bounds: Sendable, Hashable {
    /// The first and the last position. The last position is `nil` if the range extends to the end.
    case from(Int, through: Int?)
    case suffix(Int)
  }

  let bounds: Bounds

  init(_ bounds: Bounds) { self.bounds = bounds }

  /// Creates a range of the bytes at these positions, counted from 0. A call with an empty range fails.
  public init(_ positions: Range<Int>) {
    bounds = positions.isEmpty ? .suffix(0) : .from(positions.lowerBound, through: positions.upperBound - 1)
  }

  /// Creates a range of the bytes at these positions, counted from 0. The last position is included.
  public init(_ positions: ClosedRange<Int>) {
    bounds = .from(positions.lowerBound, through: positions.upperBound)
  }

  /// Creates a range from a position, counted from 0, to the end.
  public init(_ positions: PartialRangeFrom<Int>) { bounds = .from(positions.lowerBound, through: nil) }

  /// Returns a range of the first `count` bytes.
  public static func first(_ count: Int) -> ByteRange { ByteRange(0..<max(0, count)) }

  /// Returns a range of the last `count` bytes, or of all bytes if there are fewer.
  public static func last(_ count: Int) -> ByteRange { ByteRange(.suffix(count)) }

  /// The value of the `Range` field, such as `bytes=0-99`.
  public var description: String {
    switch bounds {
    case .from(let first, let last): "bytes=\(first)-\(last.map { "\($0)" } ?? "")"
    case .suffix(let count): "bytes=-\(count)"
    }
  }

  var isValid: Bool {
    switch bounds {
    case .from(let first, _): first >= 0
    case .suffix(let count): count > 0
    }
  }

  /// Whether the range selects all bytes, so a complete response satisfies it.
  var isAll: Bool { bounds == .from(0, through: nil) }

  /// Parses the `Range` field. Returns `nil` if the field is missing or malformed, uses another unit, or has several
  /// ranges.
  init?(_ headers: HTTPHeaders) {
    let lines = headers.values(for: .range)
    guard lines.count == 1, let line = lines.first?[...].trimmingSpaces(), line.lowercased().hasPrefix("bytes=") else {
      return nil
    }
    let parts = line.dropFirst(6).trimmingSpaces().split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let (first, last) = (Self.position(parts[0]), Self.position(parts[1]))
    switch (first, last) {
    case (let first?, let last?) where first <= last: bounds = .from(first, through: last)
    case (let first?, nil) where parts[1].isEmpty: bounds = .from(first, through: nil)
    case (nil, let count?) where parts[0].isEmpty: bounds = .suffix(count)
    default: return nil
    }
  }

  /// Returns the positions that the range selects from `length` bytes, or `nil` if it selects none.
  func positions(of length: Int) -> Range<Int>? {
    switch bounds {
    case .from(let first, let last):
      first < length ? first..<(min(length - 1, last ?? .max) + 1) : nil
    case .suffix(let count): count > 0 && length > 0 ? max(0, length - count)..<length : nil
    }
  }

  /// Parses a position of up to 18 decimal digits. Returns `nil` if the text is invalid.
  static func position(_ digits: Substring) -> Int? {
    guard !digits.isEmpty, digits.utf8.count <= 18, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
      return nil
    }
    return Int(digits)
  }
}
