import Errand
import ErrandFoundation

/// The paths of the temporary files that are kept next to a file during its transfer.
struct TransferPlace: Sendable {
  let file: URL
  let folder: String
  private let stem: String

  /// The maximum length in bytes of a file name that is used in the paths. Longer names are replaced by a checksum.
  /// Most file systems allow 255 bytes, and the prefix and suffixes need the rest.
  private static let longestName = 220

  /// Creates the paths for `file`. `suffix` distinguishes several transfers of the same file. Throws `TaskError` with
  /// code `.fileNotWritable` if the URL is not a file URL.
  init(_ file: URL, name suffix: String? = nil) throws {
    guard file.isFileURL else {
      throw TaskError(
        .fileNotWritable,
        "'\(Redaction.standard(file).shortened)' is not a file URL: create one with URL(fileURLWithPath:)",
        phase: .preparing, wasNotSent: true)
    }
    self.file = file
    folder = file.deletingLastPathComponent().path
    let name = file.lastPathComponent
    let stem = name.utf8.count <= Self.longestName ? ".\(name).errand" : ".errand-\(Checksum.of(name).hexadecimal)"
    self.stem = suffix.map { "\(stem)-\($0)" } ?? stem
  }

  func path(_ ending: String) -> String { "\(folder)/\(stem)-\(ending)" }

  /// Makes renames in the folder survive a system crash, if the file system supports it.
  func syncFolder() {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  /// Atomically writes a small file that only the current user can read.
  func write(_ data: Data, to ending: String) throws {
    let (path, aside) = (path(ending), path("\(ending)~"))
    unlink(aside)  // left by an earlier crash
    let descriptor = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw failure() }
    let isWritten = Descriptor.put(data, into: descriptor) && fsync(descriptor) == 0
    let problem = errno
    guard close(descriptor) == 0, isWritten, rename(aside, path) == 0 else {
      if !isWritten { errno = problem }
      let error = failure()
      unlink(aside)
      throw error
    }
  }

  /// Returns the contents of a small file owned by the current user, or `nil` if the file is missing or can't be
  /// trusted.
  func read(_ ending: String) -> Data? { Descriptor.contents(ofOwn: path(ending), below: 1 << 20) }

  func remove(_ ending: String) { unlink(path(ending)) }  // it may already be gone

  func failure(_ suffix: String = "") -> TaskError {
    var error = PartialFile.failure(at: file.path)
    error.reason += suffix
    return error
  }
}

/// An open file with an exclusive lock. The lock also excludes other transfers in the same process.
final class LockedFile {
  private(set) var descriptor: Int32

  /// Opens and locks the file, creating it if needed. The system releases the lock when the process dies. Throws
  /// `TaskError` with code `.transferInUse` if the file is already locked. `name` is used in errors.
  init(_ path: String, of name: String) throws {
    // Retry if the file has been replaced: the lock's previous holder may have renamed or removed it.
    descriptor = -1
    for _ in 0..<1000 {
      release()
      descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw PartialFile.failure(at: name) }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        throw errno == EWOULDBLOCK ? TransferCoordinator.inUse(name) : PartialFile.failure(at: name)
      }
      var (held, there) = (stat(), stat())
      guard fstat(descriptor, &held) == 0, lstat(path, &there) == 0, held.st_ino == there.st_ino,
        held.st_dev == there.st_dev
      else { continue }
      guard held.st_mode & S_IFMT == S_IFREG, held.st_uid == geteuid(), held.st_nlink == 1,
        fchmod(descriptor, 0o600) == 0
      else {
        throw TaskError(
          .fileNotWritable, "\(path) is not a regular file owned by this user: remove it", phase: .preparing,
          wasNotSent: true)
      }
      return
    }
    throw TransferCoordinator.inUse(name)
  }

  deinit { release() }

  func release() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }
}
