import ErrandFoundation

/// The file operations of a partial file; replaced in tests. On failure, each returns `false` and sets `errno`.
struct DownloadDisk: Sendable {
  /// Writes bytes at the current position. After a failure, some of them may have been written.
  var put: @Sendable (_ data: Data, _ descriptor: Int32) -> Bool = { Descriptor.put($0, into: $1) }
  /// Synchronizes the file with the disk. After a failure, some bytes may be lost.
  var flush: @Sendable (_ descriptor: Int32) -> Bool = { fsync($0) == 0 }
  var stretch: @Sendable (_ descriptor: Int32, _ length: Int64) -> Bool = { ftruncate($0, off_t($1)) == 0 }
}
