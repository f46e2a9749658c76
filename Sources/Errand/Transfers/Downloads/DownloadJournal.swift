/// What is known of a partial file: of which version of what it is, and how much of it there surely is.
struct DownloadJournal: Codable, Sendable, Equatable {
  /// The version of the format; one of another version is not read.
  static let format = 1

  var format = Self.format
  /// The hash of what is downloaded.
  var identity: String
  /// The validator of its version; nil where a part could not be told from one of another version.
  var validator: DownloadValidator?
  /// The length of the whole; nil until it is known.
  var total: Int64?
  /// The bytes that are surely on the disk.
  var synced: Int64 = 0
  /// The ranges, where the file comes in several: what is surely on the disk of each. `synced` is 0 then.
  var ranges: DownloadRanges?
  /// The run of the system in which the journal was written.
  var boot: String?
  /// The SHA-256 of the whole, as the server has said.
  var digest: String?

  /// Whether a response had the same validator and another length: the next such response has the download begin again.
  var isDoubtful: Bool?

  init(identity: String, validator: DownloadValidator? = nil, total: Int64? = nil, digest: String? = nil) {
    self.identity = identity
    self.validator = validator
    self.total = total
    self.digest = digest
  }

  /// The number of bytes of a file of that length that the download goes on from.
  func usable(of length: Int64, boot: String?) -> Int64 {
    guard format == Self.format, validator != nil, length >= synced, synced >= 0 else { return 0 }
    // Without a crash of the system, what was written is there.
    let usable = boot != nil && boot == self.boot ? length : synced
    return total.map { usable <= $0 } ?? true ? usable : 0
  }
}
