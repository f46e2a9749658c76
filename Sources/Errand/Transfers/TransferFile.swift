import ErrandFoundation

/// The names of what lies beside a file while it is transferred, and the careful handling of them.
struct TransferPlace: Sendable {
  let file: URL
  /// The folder of all of them.
  let folder: String
  private let stem: String

  /// The longest name that leaves room for the endings, in bytes: most file systems take 255.
  private static let longestName = 220

  /// The place of a file.
  /// Throws ``TaskError`` with code `.fileNotWritable` where the URL is not that of a file.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - name: What tells one transfer of the file from another; nil where there is one.
  init(_ file: URL, name suffix: String? = nil) throws {
    guard file.isFileURL else {
      throw TaskError(
        .fileNotWritable, "'\(Redaction.standard(file).shortened)' is not the URL of a file: make one of its path",
        phase: .preparing, isSurelyNotSent: true)
    }
    self.file = file
    folder = file.deletingLastPathComponent().path
    let name = file.lastPathComponent
    let stem = name.utf8.count <= Self.longestName ? ".\(name).errand" : ".errand-\(Checksum.of(name).hexadecimal)"
    self.stem = suffix.map { "\(stem)-\($0)" } ?? stem
  }

  /// The path of the file beside it that has this ending.
  func path(_ ending: String) -> String { "\(folder)/\(stem)-\(ending)" }

  /// Has what was renamed in the folder survive a crash of the system. Not every file system can; then it is no worse than any rename.
  func syncFolder() {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  /// Writes a small file for this user alone: all of it, or what was there before stays.
  func write(_ data: Data, to ending: String) throws {
    let (path, aside) = (path(ending), path("\(ending)~"))
    unlink(aside)  // one that was left behind
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

  /// A small file of our own; nil where there is none that can be trusted.
  func read(_ ending: String) -> Data? { Descriptor.contents(ofOwn: path(ending), below: 1 << 20) }

  func remove(_ ending: String) { unlink(path(ending)) }  // it may be gone, which is what we want

  func failure(_ suffix: String = "") -> TaskError {
    var error = PartialFile.failure(at: file.path)
    error.reason += suffix
    return error
  }
}

/// A file that is open, and locked against everybody else who would do the same: others of this process too.
final class LockedFile {
  private(set) var descriptor: Int32

  /// Opens the file, which is made where it is not there. The system releases the lock when a process dies.
  /// Throws ``TaskError`` with code `.transferInUse` where another one has it.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - name: What it is about, for errors.
  init(_ path: String, of name: String) throws {
    // The holder of the lock may rename or remove the file, and release the lock then: of a file that is not there any more.
    descriptor = -1
    for _ in 0..<1000 {
      release()
      descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw PartialFile.failure(at: name) }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        throw errno == EWOULDBLOCK ? TransferDesk.inUse(name) : PartialFile.failure(at: name)
      }
      var (held, there) = (stat(), stat())
      guard fstat(descriptor, &held) == 0, lstat(path, &there) == 0, held.st_ino == there.st_ino,
        held.st_dev == there.st_dev
      else { continue }
      guard held.st_mode & S_IFMT == S_IFREG, held.st_uid == geteuid(), held.st_nlink == 1,
        fchmod(descriptor, 0o600) == 0
      else {
        throw TaskError(
          .fileNotWritable, "\(path) is not a plain file of this user: remove it", phase: .preparing,
          isSurelyNotSent: true)
      }
      return
    }
    throw TransferDesk.inUse(name)
  }

  deinit { release() }

  /// Closes the file, and releases its lock.
  func release() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }
}
