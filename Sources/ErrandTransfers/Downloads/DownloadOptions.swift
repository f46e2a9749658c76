/// The options of a download.
struct DownloadOptions: Sendable {
  var digest: TransferDigest?
  /// The name that identifies the content. `nil` to identify the content by its URL.
  var identity: String?
  /// The maximum number of ranges fetched concurrently.
  var ranges = 1
  var maximumSize = Int64.max
  /// The minimum size in bytes of every range except the last.
  var smallestRange = DownloadRanges.smallest

  /// Splits a file whose first `head` bytes are present or are being received. Returns `nil` if the file can't be
  /// split.
  func ranges(of total: Int64, head: Int64, isThere: Bool) -> DownloadRanges? {
    DownloadRanges(total: total, head: head, isThere: isThere, count: ranges, smallest: smallestRange)
  }
}
