import Errand
import ErrandFoundation

/// The file operations on a partial file, which tests can replace. On failure, each operation returns `false` and sets
/// `errno`.
struct DownloadDisk: Sendable {
  /// Writes bytes at the current position. On failure, some of the bytes may have been written.
  var put: @Sendable (_ data: Data, _ descriptor: Int32) -> Bool = { Descriptor.put($0, into: $1) }
  /// Synchronizes the file to disk. On failure, some bytes may be lost.
  var flush: @Sendable (_ descriptor: Int32) -> Bool = { fsync($0) == 0 }
  var stretch: @Sendable (_ descriptor: Int32, _ length: Int64) -> Bool = { ftruncate($0, off_t($1)) == 0 }
}
