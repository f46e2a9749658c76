package import ErrandFoundation

/// A folder for files that other users can neither read nor plant: files have mode 0600, and links are not followed.
///
/// All access goes through the folder's descriptor, so replacing the folder has no effect.
package struct PrivateFolder: ~Copyable {
  /// Identifies a file version, to detect changes by other processes.
  struct Stamp: Equatable {
    let inode: UInt64
    let size: Int64
    let seconds: Int
    let nanoseconds: Int
  }

  package enum Refusal: Error, CustomStringConvertible {
    case foreign(String)
    case writableByOthers(String)
    case notPlain(String)
    case anothers(String)

    package var description: String {
      switch self {
      case .foreign(let name): "\(name) belongs to another user"
      case .writableByOthers(let name):
        "\(name) is writable by everyone: create your own folder inside it, or chmod it to 700 if only you use it"
      case .notPlain(let name): "\(name) is not a regular file"
      case .anothers(let name): "\(name) already exists and belongs to another program: choose an empty folder"
      }
    }
  }

  private let descriptor: Int32

  static func exists(_ url: URL) -> Bool { access(url.path, F_OK) == 0 }

  /// Creates the folder and its missing parents, private to this user. Existing folders are not changed.
  package static func make(_ url: URL) throws {
    var missing: [String] = []
    var next = url.standardizedFileURL
    while access(next.path, F_OK) != 0, errno == ENOENT, next.pathComponents.count > 1 {
      missing.append(next.path)
      next.deleteLastPathComponent()
    }
    for path in missing.reversed() where mkdir(path, 0o700) != 0 && errno != EEXIST { throw failure() }
  }

  /// Opens a folder. Throws if it is missing, belongs to another user, is world-writable, or is a link and
  /// `followsLinks` is `false`.
  package init(_ url: URL, followsLinks: Bool = true) throws {
    let opened = open(url.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followsLinks ? 0 : O_NOFOLLOW))
    guard opened >= 0 else { throw Self.failure() }
    var status = stat()
    var link = stat()
    let isKnown = fstat(opened, &status) == 0 && lstat(url.path, &link) == 0
    let refusal: (any Error)? =
      !isKnown
      ? Self.failure()
      : status.st_uid != geteuid() || link.st_uid != geteuid()
        ? Refusal.foreign(url.path) : status.st_mode & 0o002 != 0 ? Refusal.writableByOthers(url.path) : nil
    if let refusal {
      close(opened)
      throw refusal
    }
    descriptor = opened
  }

  deinit { close(descriptor) }

  func closeToOthers() throws {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.failure() }
    if status.st_mode & 0o077 != 0, fchmod(descriptor, 0o700) != 0 { throw Self.failure() }
  }

  /// Creates a file. Replaces an existing file with that name instead of writing to it. If `isSynchronised` is `true`,
  /// the content is synced to disk, so that it survives a system crash.
  package func create(_ name: String, _ data: Data, isSynchronised: Bool = false) throws {
    try data.withUnsafeBytes { try create(name, bytes: $0, isSynchronised: isSynchronised) }
  }

  func create(_ name: String, _ bytes: [UInt8]) throws {
    try bytes.withUnsafeBytes { try create(name, bytes: $0, isSynchronised: false) }
  }

  package func create(_ name: String, bytes: UnsafeRawBufferPointer, isSynchronised: Bool = false) throws {
    func make() -> Int32 { openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600) }
    var file = make()
    if file < 0, errno == EEXIST {
      unlinkat(descriptor, name, 0)
      file = make()
    }
    guard file >= 0 else { throw Self.failure() }
    var isWhole = Descriptor.put(bytes, into: file) && (!isSynchronised || fsync(file) == 0)
    let problem = errno
    if close(file) != 0 { isWhole = false }
    guard isWhole else {
      unlinkat(descriptor, name, 0)
      throw Self.failure(problem)
    }
  }

  /// Appends to an existing regular file that belongs to this user.
  package func append(_ name: String, _ bytes: UnsafeRawBufferPointer) throws {
    let file = openat(descriptor, name, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { throw Self.failure() }
    defer { close(file) }
    try Self.check(file, name)
    let length = Descriptor.length(of: file)
    guard Descriptor.put(bytes, into: file) else {
      let problem = errno
      if let length { ftruncate(file, off_t(length)) }  // append everything or nothing
      throw Self.failure(problem)
    }
  }

  /// Creates a link or replaces an existing one. Throws if the name belongs to a file.
  package func link(_ name: String, to target: String) throws {
    let aside = ".\(name).\(UUID().uuidString)"  // several processes may create one concurrently
    guard symlinkat(target, descriptor, aside) == 0 else { throw Self.failure() }
    var status = stat()
    if fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT != S_IFLNK {
      unlinkat(descriptor, aside, 0)
      throw Refusal.anothers(name)
    }
    do {
      try rename(aside, to: name)
    } catch {
      unlinkat(descriptor, aside, 0)
      throw error
    }
  }

  /// Returns the content of a regular file that belongs to this user, or `nil` if it does not exist.
  package func read(_ name: String) throws -> Data? {
    // O_NONBLOCK: don't wait for the other end of a planted pipe.
    let file = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else {
      if errno == ENOENT { return nil }
      throw Self.failure()
    }
    defer { close(file) }
    try Self.check(file, name)
    var data = Data()
    while true {
      guard let chunk = Descriptor.bytes(of: file, atMost: 64 << 10) else { throw Self.failure() }
      guard !chunk.isEmpty else { return data }
      data.append(chunk)
    }
  }

  /// Syncs renames and removals to disk, so that they survive a system crash if the file system supports it.
  package func synchronise() { fsync(descriptor) }

  package func rename(_ from: String, to name: String) throws {
    guard renameat(descriptor, from, descriptor, name) == 0 else { throw Self.failure() }
  }

  package func remove(_ name: String) {
    unlinkat(descriptor, name, 0)  // it may not exist
  }

  func stamp(of name: String) -> Stamp? {
    var status = stat()
    guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    let written = status.lastChange
    return Stamp(
      inode: UInt64(status.st_ino), size: Int64(status.st_size), seconds: written.seconds,
      nanoseconds: written.nanoseconds)
  }

  package func removeFolder(_ name: String) { unlinkat(descriptor, name, AT_REMOVEDIR) }

  /// Marks the folder as in use until this value is destroyed or the process ends; see ``isHeld``.
  package func hold() { flock(descriptor, LOCK_SH | LOCK_NB) }

  /// Whether the folder is in use. Also `true` if that can't be determined.
  package var isHeld: Bool {
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return true }
    flock(descriptor, LOCK_UN)
    return false
  }

  /// Runs `body` while holding the named lock. Returns `nil` if the lock is not free within `patience` milliseconds.
  /// The system releases the lock when a process dies.
  func locked<Result>(_ name: String, patience: Int, _ body: (borrowing PrivateFolder) throws -> Result) throws
    -> Result?
  {
    let file = openat(descriptor, name, O_CREAT | O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw Self.failure() }
    defer { close(file) }
    try Self.check(file, name)
    var waited = 0
    while true {
      if flock(file, LOCK_EX | LOCK_NB) == 0 { return try body(self) }
      guard errno == EWOULDBLOCK || errno == EINTR else { throw Self.failure() }
      guard waited < patience else { return nil }
      // Other processes hold the lock for a few milliseconds. Back off to save CPU in case the holder is suspended.
      let pause = min(1 + waited / 4, 20)
      usleep(UInt32(pause) * 1000)
      waited += pause
    }
  }

  private static func check(_ file: Int32, _ name: String) throws {
    var status = stat()
    guard fstat(file, &status) == 0 else { throw failure() }
    guard status.st_mode & S_IFMT == S_IFREG else { throw Refusal.notPlain(name) }
    guard status.st_uid == geteuid() else { throw Refusal.foreign(name) }
  }

  private static func failure(_ code: Int32 = errno) -> any Error {
    POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
  }
}
