/// Divides an upload's content into chunks.
struct UploadSlices {
  /// A remainder smaller than this number of bytes is added to the last chunk.
  static let crumbs: Int64 = 2500

  let length: Int64?
  let chunkSize: Int64
  private let largest: Int64

  /// Limits the chunk size to what the server accepts and rounds it down to a multiple of the server's granularity. The
  /// smallest chunk size is the granularity itself. `length` is `nil` if it is not known yet.
  init(length: Int64?, chunkSize: Int64, _ session: UploadSession) {
    self.length = length
    largest = max(1, Int64(session.largestPiece ?? .max))
    let wanted = min(max(chunkSize, Int64(session.smallestPiece ?? 1)), largest)
    let granularity = Int64(max(1, session.granularity))
    self.chunkSize = max(wanted / granularity, 1) * granularity
  }

  func piece(at offset: Int64) -> UploadPiece {
    guard let length else { return UploadPiece(offset: offset, count: chunkSize, isLast: false) }
    let left = max(0, length - offset)
    let isLast = left <= chunkSize || (left - chunkSize < Self.crumbs && left <= largest)
    return UploadPiece(offset: offset, count: isLast ? left : chunkSize, isLast: isLast)
  }
}
