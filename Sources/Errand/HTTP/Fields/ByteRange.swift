/// A range of bytes that a request asks for (RFC 9110 §14.1.2).
///
///     let head = try await Export().range(.first(1024)).downloadData()
///     let rest = try await Export().range(ByteRange(1024...)).downloadData()
public struct ByteRange: Sendable, Hashable, CustomStringConvertible {
  enum Bounds: Sendable, Hashable {
    /// From the first position to the last, or to the end.
    case from(Int, through: Int?)
    /// So many bytes from the end.
    case suffix(Int)
  }

  let bounds: Bounds

  init(_ bounds: Bounds) { self.bounds = bounds }

  /// The bytes at these positions, counted from 0. One without a byte fails the call that asks for it.
  public init(_ positions: Range<Int>) {
    bounds = positions.isEmpty ? .suffix(0) : .from(positions.lowerBound, through: positions.upperBound - 1)
  }

  /// The bytes at these positions, the last one included, counted from 0.
  public init(_ positions: ClosedRange<Int>) {
    bounds = .from(positions.lowerBound, through: positions.upperBound)
  }

  /// All bytes from a position on, counted from 0.
  public init(_ positions: PartialRangeFrom<Int>) { bounds = .from(positions.lowerBound, through: nil) }

  /// The first so many bytes.
  public static func first(_ count: Int) -> ByteRange { ByteRange(0..<max(0, count)) }

  /// The last so many bytes; all where there are fewer.
  public static func last(_ count: Int) -> ByteRange { ByteRange(.suffix(count)) }

  /// The range as it stands in `Range`: `bytes=0-99`.
  public var description: String {
    switch bounds {
    case .from(let first, let last): "bytes=\(first)-\(last.map { "\($0)" } ?? "")"
    case .suffix(let count): "bytes=-\(count)"
    }
  }

  /// True where it can be asked for: it has a byte, and no position before the first.
  var isValid: Bool {
    switch bounds {
    case .from(let first, _): first >= 0
    case .suffix(let count): count > 0
    }
  }

  /// True where it is all bytes, so that a response of the whole answers it.
  var isAll: Bool { bounds == .from(0, through: nil) }

  /// The one range in `Range`; nil where there is none, several, or one in another unit.
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

  /// The positions that it means of `length` bytes; nil where there are none.
  func positions(of length: Int) -> Range<Int>? {
    switch bounds {
    case .from(let first, let last):
      first < length ? first..<(min(length - 1, last ?? .max) + 1) : nil
    case .suffix(let count): count > 0 && length > 0 ? max(0, length - count)..<length : nil
    }
  }

  /// A position in decimal digits, as ranges have it; nil where it is none.
  static func position(_ digits: Substring) -> Int? {
    guard !digits.isEmpty, digits.utf8.count <= 18, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
      return nil
    }
    return Int(digits)
  }
}
