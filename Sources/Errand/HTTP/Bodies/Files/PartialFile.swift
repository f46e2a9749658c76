package import ErrandFoundation

/// A file that is written under a temporary name and moved to its destination when it is complete.
///
/// The new file gets the mode of the file that it replaces, unless it is private. Call ``publish()`` or ``discard()``
/// when done.
package struct PartialFile: Sendable {
  private let place: URL
  private let replaces: Bool
  private let path: String
  private let descriptor: Int32
  /// Folders created for this file, outermost first.
  private let madeFolders: [String]

  /// Creates the file and any missing folders. If `replacing` is `false`, an existing file is kept, and a number is
  /// added to the new file's name: `name (2).ext`. If `isPrivate` is `true`, only this user can read the file (0600).
  ///
  /// Throws ``TaskError`` with code `.fileNotWritable` and leaves nothing behind.
  package init(for url: URL, replacing: Bool = true, isPrivate: Bool = false) throws {
    guard url.isFileURL else {
      throw TaskError(
        .fileNotWritable,
        "'\(Redaction.standard(url).shortened)' is not a file URL: create one with URL(fileURLWithPath:)",
        phase: .finishing)
    }
    place = url
    replaces = replacing
    let folder = url.deletingLastPathComponent().path
    var mode = stat()
    let isThere = replacing && stat(url.path, &mode) == 0
    guard !isThere || mode.st_mode & S_IFMT == S_IFREG else {  // a folder, a pipe, a device
      throw TaskError(
        .fileNotWritable, "\(url.path) is not a regular file; refusing to replace it", phase: .finishing)
    }
    // Not derived from the file name, which could already have the maximum length.
    let path = "\(folder)/.errand-\(UUID().uuidString)"
    // O_EXCL: never follow a planted link. The file is private until it gets the old file's mode.
    func make() -> Int32 {
      open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, isThere || isPrivate ? 0o600 : 0o666)
    }
    var madeFolders: [String] = []
    var descriptor: Int32 = -1
    // A concurrent download that failed may have removed folders that this download relies on.
    for _ in 0..<100 {
      descriptor = Self.makeFolders(to: folder, &madeFolders, mode: isPrivate ? 0o700 : 0o777) ? make() : -1
      if descriptor >= 0 || errno != ENOENT { break }
    }
    guard descriptor >= 0, !isThere || isPrivate || Self.adopt(mode, descriptor) else {
      let error = Self.failure(at: url.path)
      if descriptor >= 0 { close(descriptor) }
      unlink(path)  // it may not exist
      Self.remove(madeFolders)
      throw error
    }
    self.path = path
    self.descriptor = descriptor
    self.madeFolders = madeFolders
  }

  /// Copies the owner and the mode of the replaced file, but not setuid and setgid, because the content comes from the
  /// network.
  package static func adopt(_ old: stat, _ descriptor: Int32) -> Bool {
    // Only root can change the owner. Otherwise the file belongs to the current user, as after any rename.
    if old.st_uid != geteuid() { _ = fchown(descriptor, old.st_uid, old.st_gid) }
    return fchmod(descriptor, old.st_mode & 0o777) == 0
  }

  package func write(_ data: Data) throws {
    guard Descriptor.put(data, into: descriptor) else { throw Self.failure(at: place.path) }
  }

  func chunk(from position: Int64, atMost size: Int) throws -> Data {
    try Self.chunk(of: descriptor, from: position, atMost: size)
  }

  /// Returns the bytes from `position`, or no bytes at the end.
  static func chunk(of descriptor: Int32, from position: Int64, atMost size: Int) throws -> Data {
    guard let chunk = Descriptor.bytes(of: descriptor, from: position, atMost: size) else {
      throw TaskError(
        .fileNotWritable, "can't read back the downloaded file: \(String(cString: strerror(errno)))", phase: .finishing)
    }
    return chunk
  }

  /// Returns another descriptor of the file, which stays open after ``publish()``, or -1.
  func copiedDescriptor() -> Int32 { Descriptor.copy(of: descriptor) }

  var stamp: String? { FileValidators.stamp(of: descriptor) }

  /// Moves the file to its destination and returns the destination. Leaves nothing behind if it throws.
  @discardableResult
  package func publish() throws -> URL {
    // Some file systems report a failed write only on close.
    let isWritten = close(descriptor) == 0
    guard isWritten, !replaces else {
      // A link at the destination is replaced, not followed.
      if isWritten, rename(path, place.path) == 0 { return place }
      let error = Self.failure(at: place.path)
      remove()
      throw error
    }
    return try publishBeside()
  }

  private static let mostNumbers = 9_999

  /// Moves the file to the first free name. Never replaces a file, even if another program creates one with that name
  /// first.
  private func publishBeside() throws -> URL {
    let (folder, name) = (place.deletingLastPathComponent(), place.lastPathComponent)
    errno = EEXIST
    var number = 1
    while errno == EEXIST, number <= Self.mostNumbers {
      let file = folder.appendingPathComponent(SafeFileName.numbered(name, number))
      if link(path, file.path) == 0 {
        unlink(path)
        return file
      }
      // On file systems without hard links, claim the name with an empty file and replace that file.
      if errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK, Self.claim(file.path) {
        if rename(path, file.path) == 0 { return file }
        unlink(file.path)
        break
      }
      number += 1
    }
    let error = Self.failure(at: place.path)
    remove()
    throw error
  }

  private static func claim(_ path: String) -> Bool {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
    return descriptor >= 0 && close(descriptor) == 0
  }

  /// Removes the file, and the folders that were created for it if they are empty.
  package func discard() {
    close(descriptor)
    remove()
  }

  func removeFolders() { Self.remove(madeFolders) }

  private func remove() {
    unlink(path)
    Self.remove(madeFolders)
  }

  /// Creates missing folders and appends them to `made`. If one can't be created, returns `false` and sets `errno`.
  package static func makeFolders(to folder: String, _ made: inout [String], mode: mode_t = 0o777) -> Bool {
    var missing: [String] = []
    var next = URL(fileURLWithPath: folder)
    while access(next.path, F_OK) != 0, errno == ENOENT, next.pathComponents.count > 1 {
      missing.insert(next.path, at: 0)
      next.deleteLastPathComponent()
    }
    for folder in missing {
      if mkdir(folder, mode) == 0 {
        made.append(folder)
      } else if errno != EEXIST {  // another process may have created it
        return false
      }
    }
    return true
  }

  package static func remove(_ folders: [String]) {
    for folder in folders.reversed() { rmdir(folder) }  // fails if it is not empty
  }

  package static func failure(at place: String) -> TaskError {
    let underlying = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    let reason = String(cString: strerror(errno))
    return TaskError(
      .fileNotWritable, "can't write \(place): \(reason)", phase: .finishing, underlying: underlying)
  }
}
