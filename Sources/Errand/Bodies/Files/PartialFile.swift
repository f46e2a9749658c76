import ErrandFoundation

/// A file that is written beside its place under another name, and takes the place once it is complete.
///
/// It has the mode of the file that it replaces, unless it is private. End it with ``publish()`` or ``discard()``.
struct PartialFile: Sendable {
  private let place: URL
  /// False where what is in the place stays, and this file gets another name.
  private let replaces: Bool
  private let path: String
  private let descriptor: Int32
  /// Folders that were made for it, the outermost first.
  private let madeFolders: [String]

  /// Makes the folders that are not there, and the file in the last of them.
  ///
  /// - Parameters:
  ///   - url: The place.
  ///   - replacing: Whether a file that is there is replaced; else this one gets a name with a number, `name (2).ext`.
  ///   - isPrivate: Whether no other user may read it (0600), also where others might read the file that it replaces.
  /// - Throws: ``TaskError`` with code `.fileNotWritable`, with nothing left behind.
  init(for url: URL, replacing: Bool = true, isPrivate: Bool = false) throws {
    guard url.isFileURL else {
      throw TaskError(
        .fileNotWritable, "'\(Redaction.standard(url).shortened)' is not the URL of a file: make one of its path",
        phase: .finishing)
    }
    place = url
    replaces = replacing
    let folder = url.deletingLastPathComponent().path
    var mode = stat()
    let isThere = replacing && stat(url.path, &mode) == 0
    guard !isThere || mode.st_mode & S_IFMT == S_IFREG else {  // a folder, a pipe, a device
      throw TaskError(
        .fileNotWritable, "\(url.path) is not a plain file, and is not replaced by one", phase: .finishing)
    }
    // Not named after the place, whose name may be as long as names can be.
    let path = "\(folder)/.errand-\(UUID().uuidString)"
    // Exclusively, so that no planted link is followed; closed to other users until it has the mode of the old file.
    func make() -> Int32 {
      open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, isThere || isPrivate ? 0o600 : 0o666)
    }
    var madeFolders: [String] = []
    var descriptor: Int32 = -1
    // A download beside this one may have failed, and removed the folders that it had made and this one found.
    for _ in 0..<100 {
      descriptor = Self.makeFolders(to: folder, &madeFolders, mode: isPrivate ? 0o700 : 0o777) ? make() : -1
      if descriptor >= 0 || errno != ENOENT { break }
    }
    guard descriptor >= 0, !isThere || isPrivate || Self.adopt(mode, descriptor) else {
      let error = Self.failure(at: url.path)
      if descriptor >= 0 { close(descriptor) }
      unlink(path)  // it may never have been made
      Self.remove(madeFolders)
      throw error
    }
    self.path = path
    self.descriptor = descriptor
    self.madeFolders = madeFolders
  }

  /// The place of what is written until then.
  var writtenAt: URL { URL(fileURLWithPath: path) }

  /// Gives a file the owner and the mode of the one that it replaces. Another owner's bits to run as that owner, or as his
  /// group, are not for what came from a peer.
  static func adopt(_ old: stat, _ descriptor: Int32) -> Bool {
    // Only the superuser may; for all others the file becomes theirs, as with every rename.
    if old.st_uid != geteuid() { _ = fchown(descriptor, old.st_uid, old.st_gid) }
    return fchmod(descriptor, old.st_mode & 0o777) == 0
  }

  /// Adds bytes at the end.
  func write(_ data: Data) throws {
    guard Descriptor.put(data, into: descriptor) else { throw Self.failure(at: place.path) }
  }

  /// Size and time of what was written, by which it is known once it is in its place.
  var stamp: String? { FileValidators.stamp(of: descriptor) }

  /// Puts the file in its place, or leaves nothing behind where that throws. Returns the place.
  @discardableResult
  func publish() throws -> URL {
    // Some file systems say only now that a write failed.
    let isWritten = close(descriptor) == 0
    guard isWritten, !replaces else {
      // A link in the place is replaced, not followed.
      if isWritten, rename(path, place.path) == 0 { return place }
      let error = Self.failure(at: place.path)
      remove()
      throw error
    }
    return try publishBeside()
  }

  /// The most files of one name that are passed by.
  private static let mostNumbers = 9_999

  /// Gives the file the first name that is free, without replacing anything: another program may take a name at any time.
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
      // Not every file system has links; there the name is taken by an empty file, which is ours to replace.
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

  /// Removes the file, and the folders that were made for it unless they are in use.
  func discard() {
    close(descriptor)
    remove()
  }

  /// Removes the folders that were made for it once more, unless they are in use.
  func removeFolders() { Self.remove(madeFolders) }

  private func remove() {
    unlink(path)
    Self.remove(madeFolders)
  }

  /// Makes the folders that are not there, and adds them to `made`; false, with the reason in `errno`, where one cannot be made.
  static func makeFolders(to folder: String, _ made: inout [String], mode: mode_t = 0o777) -> Bool {
    var missing: [String] = []
    var next = URL(fileURLWithPath: folder)
    while access(next.path, F_OK) != 0, errno == ENOENT, next.pathComponents.count > 1 {
      missing.insert(next.path, at: 0)
      next.deleteLastPathComponent()
    }
    for folder in missing {
      if mkdir(folder, mode) == 0 {
        made.append(folder)
      } else if errno != EEXIST {  // somebody else may have made it meanwhile
        return false
      }
    }
    return true
  }

  /// Removes folders that were made, the innermost first.
  static func remove(_ folders: [String]) {
    for folder in folders.reversed() { rmdir(folder) }  // one that is not empty stays
  }

  static func failure(at place: String) -> TaskError {
    let underlying = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    let reason = String(cString: strerror(errno))
    return TaskError(
      .fileNotWritable, "can't write \(place): \(reason)", phase: .finishing, underlying: underlying)
  }
}
