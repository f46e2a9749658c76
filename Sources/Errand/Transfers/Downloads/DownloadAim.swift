/// What the owner of a download wants of it.
struct DownloadAim: Sendable {
  var digest: TransferDigest?
  /// The name of what is downloaded; nil where that is its URL.
  var identity: String?
  /// The most ranges that are fetched at a time.
  var ranges = 1
  /// The most bytes that the file may have.
  var maximumSize = Int64.max
  /// The fewest bytes of a range but the last, and those of the first one.
  var smallestRange = DownloadRanges.smallest

  /// The ranges of a file of which the first ones are there, or come; nil where it cannot have any.
  func ranges(of total: Int64, head: Int64, isThere: Bool) -> DownloadRanges? {
    DownloadRanges(total: total, head: head, isThere: isThere, count: ranges, smallest: smallestRange)
  }
}
