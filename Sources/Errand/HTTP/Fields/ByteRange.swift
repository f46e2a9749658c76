/// A range of bytes that a request asks for (RFC 9110 §14.1.2).
enum ByteRange: Sendable, Equatable {
  /// From the first position to the last, or to the end.
  case from(Int, through: Int?)
  /// So many bytes from the end.
  case suffix(Int)

  /// The one range in `Range`; nil where there is none, several, or one in another unit.
  init?(_ headers: HTTPHeaders) {
    let lines = headers.values(for: .range)
    guard lines.count == 1, let line = lines.first?[...].trimmingSpaces(), line.lowercased().hasPrefix("bytes=") else {
      return nil
    }
    let bounds = line.dropFirst(6).trimmingSpaces().split(separator: "-", omittingEmptySubsequences: false)
    guard bounds.count == 2 else { return nil }
    let (first, last) = (Self.position(bounds[0]), Self.position(bounds[1]))
    switch (first, last) {
    case (let first?, let last?) where first <= last: self = .from(first, through: last)
    case (let first?, nil) where bounds[1].isEmpty: self = .from(first, through: nil)
    case (nil, let count?) where bounds[0].isEmpty: self = .suffix(count)
    default: return nil
    }
  }

  /// The positions that it means of `length` bytes; nil where there are none.
  func positions(of length: Int) -> Range<Int>? {
    switch self {
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
