import ErrandFoundation

/// The ways in which a partial file is written; tests have others. Each gives false, and `errno`, where it fails.
struct DownloadDisk: Sendable {
  /// Writes bytes at the position of the file; some of them may be there where it fails.
  var put: @Sendable (_ data: Data, _ descriptor: Int32) -> Bool = { Descriptor.put($0, into: $1) }
  /// Has the disk take what was written; where it fails, some of it may be lost.
  var flush: @Sendable (_ descriptor: Int32) -> Bool = { fsync($0) == 0 }
  /// Gives the file a length.
  var stretch: @Sendable (_ descriptor: Int32, _ length: Int64) -> Bool = { ftruncate($0, off_t($1)) == 0 }
}
