/// Describes a partial file: its version, and how many of its bytes can be trusted.
struct DownloadJournal: Codable, Sendable, Equatable {
  /// The version of the format. Journals in other versions are ignored.
  static let format = 1

  var format = Self.format
  /// The hash that identifies the content.
  var identity: String
  /// The version's validator. `nil` if the server did not send a strong validator. In that case, ranges can't be
  /// combined.
  var validator: DownloadValidator?
  var total: Int64?
  /// The number of bytes synchronized to disk.
  var synced: Int64 = 0
  /// The ranges with their synchronized bytes, if the file is split. In that case, `synced` is 0.
  var ranges: DownloadRanges?
  var boot: String?
  var digest: String?

  /// Whether a response had the same validator but a different length. The next such response restarts the download.
  var isDoubtful: Bool?

  init(identity: String, validator: DownloadValidator? = nil, total: Int64? = nil, digest: String? = nil) {
    self.identity = identity
    self.validator = validator
    self.total = total
    self.digest = digest
  }

  /// Returns how many bytes of a partial file with this length can be kept.
  func usable(of length: Int64, boot: String?) -> Int64 {
    guard format == Self.format, validator != nil, length >= synced, synced >= 0 else { return 0 }
    // Unless the system has restarted, all written bytes are present.
    let usable = boot != nil && boot == self.boot ? length : synced
    return total.map { usable <= $0 } ?? true ? usable : 0
  }
}
