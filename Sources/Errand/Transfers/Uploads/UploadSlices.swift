/// The division of what goes up into pieces. Pure.
struct UploadSlices {
  /// So few bytes are not left for a piece of their own.
  static let crumbs: Int64 = 2500

  /// The length of the whole; nil where it is not known yet.
  let length: Int64?
  let chunkSize: Int64
  private let largest: Int64

  /// A division.
  ///
  /// - Parameters:
  ///   - length: The length of the whole; nil where it is not known yet.
  ///   - chunkSize: The size of a piece; kept within the limits of the server, and rounded down to its granularity, to one granule at
  ///     least.
  ///   - session: The upload, with the limits of its server.
  init(length: Int64?, chunkSize: Int64, _ session: UploadSession) {
    self.length = length
    largest = max(1, Int64(session.largestPiece ?? .max))
    let wanted = min(max(chunkSize, Int64(session.smallestPiece ?? 1)), largest)
    let granularity = Int64(max(1, session.granularity))
    self.chunkSize = max(wanted / granularity, 1) * granularity
  }

  /// The piece that begins at a position.
  func piece(at offset: Int64) -> UploadPiece {
    guard let length else { return UploadPiece(offset: offset, count: chunkSize, isLast: false) }
    let left = max(0, length - offset)
    let isLast = left <= chunkSize || (left - chunkSize < Self.crumbs && left <= largest)
    return UploadPiece(offset: offset, count: isLast ? left : chunkSize, isLast: isLast)
  }
}
