/// A download's options.
struct DownloadOptions: Sendable {
  var digest: TransferDigest?
  /// The content's name. `nil` to identify the content by its URL.
  var identity: String?
  /// The maximum number of ranges fetched concurrently.
  var ranges = 1
  var maximumSize = Int64.max
  /// The minimum size in bytes of every range except the last.
  var smallestRange = DownloadRanges.smallest

  /// Returns the ranges of a file whose first `head` bytes are present or arriving. `nil` if the file can't be split.
  func ranges(of total: Int64, head: Int64, isThere: Bool) -> DownloadRanges? {
    DownloadRanges(total: total, head: head, isThere: isThere, count: ranges, smallest: smallestRange)
  }
}
