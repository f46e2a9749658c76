/// The division of a file into pieces. Pure.
struct UploadSlices {
  /// So few bytes are not left for a piece of their own.
  static let crumbs: Int64 = 2500

  let length: Int64
  let chunkSize: Int64
  let granularity: Int64

  /// A division.
  ///
  /// - Parameters:
  ///   - length: The length of the file.
  ///   - chunkSize: The size of a piece; rounded down to the granularity, to one granule at least.
  ///   - granularity: The number that the size of each piece but the last is a multiple of.
  init(length: Int64, chunkSize: Int64, granularity: Int) {
    self.length = length
    self.granularity = max(1, Int64(granularity))
    self.chunkSize = max(chunkSize / self.granularity, 1) * self.granularity
  }

  /// The piece that begins at a position.
  func piece(at offset: Int64) -> UploadPiece {
    let left = max(0, length - offset)
    let isLast = left <= chunkSize || left - chunkSize < Self.crumbs
    return UploadPiece(offset: offset, count: isLast ? left : chunkSize, isLast: isLast)
  }
}
