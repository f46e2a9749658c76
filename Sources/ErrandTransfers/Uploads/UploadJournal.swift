import Errand
import ErrandFoundation

/// The stored state of an upload, which is used to continue the upload after a relaunch of the program.
struct UploadJournal: Codable, Sendable, Equatable {
  static let format = 1

  var format = Self.format
  let dialect: String
  /// The hash of the upload's target.
  let identity: String
  let stamp: FileStamp
  var session: UploadSession
  /// Whether the server may have the entire content. `nil` in journals written before the field existed.
  var mayBeWhole: Bool?
}

/// Identifies a file's content. The stamp changes whenever the file does.
struct FileStamp: Codable, Sendable, Hashable {
  let length: Int64
  private let inode: UInt64
  private let seconds: Int
  private let nanoseconds: Int
  /// The time of the last status change, which programs can't set.
  private let changeSeconds: Int
  private let changeNanoseconds: Int

  /// Creates the stamp of a regular file. Throws `TaskError` with code `.unreadableBody` if the file is missing or
  /// its size is unknown.
  init(of file: URL) throws {
    var status = stat()
    guard file.isFileURL, stat(file.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw TaskError.ofTransfer(HTTPBody.Failure.unreadable(path: file.path))
    }
    guard try status.st_size > 0 || HTTPBody.file(file).checkedLength() != nil else {
      throw TaskError(
        .unreadableBody,
        "can't determine the size of \(file.path), so it can't be uploaded in chunks: pass its bytes with ResumableUpload(named:with:by:bytes:)",
        phase: .preparing, wasNotSent: true)
    }
    let time = status.lastChange
    (length, inode) = (Int64(status.st_size), UInt64(status.st_ino))
    (seconds, nanoseconds) = (time.seconds, time.nanoseconds)
    (changeSeconds, changeNanoseconds) = (status.lastStatusChange.seconds, status.lastStatusChange.nanoseconds)
  }
}
