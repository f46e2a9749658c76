import ErrandFoundation

/// The folder of a ``DiskCache``, with its 4,096 subfolders and their files.
///
/// Uses only descriptors, follows no links, and reads only regular files owned by the current user. Changes only files
/// whose names have the cache's format.
final class DiskFolder: Sendable {
  struct Status {
    /// The disk space used, in bytes.
    let size: Int
    /// The time of the last use, in nanoseconds since 1970.
    let used: Int
  }

  private let descriptor: Int32

  /// Opens a folder, creating it and its parents if necessary.
  /// Throws ``TaskError`` with code `.fileNotWritable` if the folder can't be created or belongs to another user.
  init(_ url: URL) throws {
    do {
      try PrivateFolder.make(url)
    } catch {
      throw Self.failure("can't create the cache folder \(url.path): \(Self.reason)")
    }
    let opened = open(url.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard opened >= 0 else {
      throw Self.failure("can't open the cache folder \(url.path): \(Self.reason)")
    }
    var status = stat()
    var link = stat()
    // Responses are secret. Other users must not be able to read or change them, or replace the folder with a link.
    guard
      fstat(opened, &status) == 0, lstat(url.path, &link) == 0, status.st_uid == geteuid(), link.st_uid == geteuid(),
      fchmod(opened, 0o700) == 0
    else {
      close(opened)
      throw Self.failure("the cache folder \(url.path) belongs to another user: use another folder")
    }
    descriptor = opened
  }

  deinit { close(descriptor) }

  // MARK: Subfolders

  static let shardCount = 4096

  static func shard(_ hash: UInt64) -> String { String(hash.hexadecimal.prefix(3)) }

  /// Calls `body` with the descriptor of a subfolder, or returns `nil` if it does not exist.
  func withShard<Result>(_ name: String, making: Bool = false, _ body: (Int32) throws -> Result) rethrows -> Result? {
    let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW
    var shard = openat(descriptor, name, flags)
    if shard < 0, making, errno == ENOENT {
      mkdirat(descriptor, name, 0o700)  // another process may have created it
      shard = openat(descriptor, name, flags)
    }
    guard shard >= 0 else { return nil }
    defer { close(shard) }
    return try body(shard)
  }

  /// Returns the valid file names in a subfolder.
  static func names(in shard: Int32) -> [DiskName] {
    let copy = dup(shard)  // closedir closes it
    guard copy >= 0, let stream = fdopendir(copy) else {
      if copy >= 0 { close(copy) }
      return []
    }
    defer { closedir(stream) }
    rewinddir(stream)
    var names: [DiskName] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 1) { DiskName($0) }
      }
      if let name { names.append(name) }
    }
    return names
  }

  // MARK: Files

  /// Opens a regular file owned by the current user for reading, or returns `nil`.
  static func openFile(_ name: String, in shard: Int32) -> (file: Int32, size: Int)? {
    let file = openat(shard, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { return nil }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
      close(file)
      return nil
    }
    return (file, Int(status.st_size))
  }

  /// Creates a file and locks it while it is open, so that other processes see that it is being written.
  static func create(_ name: String, in shard: Int32) throws -> Int32 {
    for _ in 0..<100 {
      let file = openat(shard, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
      guard file >= 0 else { throw failure("can't store a response: \(reason)") }
      while flock(file, LOCK_EX) != 0, errno == EINTR {}
      // Before the file was locked, another process may have removed it as abandoned.
      var status = stat()
      if fstat(file, &status) == 0, status.st_nlink > 0 { return file }
      close(file)
    }
    throw failure("can't store a response: another process keeps removing its file")
  }

  /// Removes an abandoned file. Returns `false` if a process is still writing it.
  static func removeLeftOver(_ name: String, in shard: Int32) -> Bool {
    guard let (file, _) = openFile(name, in: shard) else { return true }
    defer { close(file) }
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else { return false }
    // Before the file was locked, it may have been replaced by a file that is being written.
    var (locked, there) = (stat(), stat())
    guard fstat(file, &locked) == 0, fstatat(shard, name, &there, AT_SYMLINK_NOFOLLOW) == 0 else { return true }
    guard locked.st_ino == there.st_ino, locked.st_dev == there.st_dev else { return false }
    removeFile(name, in: shard)  // still locked, so its writer notices the removal
    return true
  }

  static func renameFile(_ old: String, to new: String, in shard: Int32) throws {
    guard renameat(shard, old, shard, new) == 0 else { throw failure("can't store a response: \(reason)") }
  }

  static func removeFile(_ name: String, in shard: Int32) {
    unlinkat(shard, name, 0)  // ignore errors: it may already be removed
  }

  static func status(of name: String, in shard: Int32) -> Status? {
    var status = stat()
    guard fstatat(shard, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFREG else {
      return nil
    }
    let time = status.lastChange
    return Status(size: taken(by: status), used: time.seconds &* 1_000_000_000 &+ time.nanoseconds)
  }

  /// Returns a file size rounded up to blocks of 4 KiB, which most disks use.
  static func inBlocks(_ length: Int) -> Int { (length + 4095) / 4096 * 4096 }

  /// Returns the disk space used by a file. Estimates the space if no blocks are reported, because some file systems
  /// allocate blocks later or store small files elsewhere.
  private static func taken(by status: stat) -> Int {
    status.st_blocks > 0 ? Int(status.st_blocks) * 512 : inBlocks(Int(status.st_size))
  }

  static func touch(_ name: String, in shard: Int32, at time: Date) {
    let nanoseconds = time.nanoseconds
    let parts = (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000)
    var times = (parts.0, parts.1, parts.0, parts.1)
    _ = withUnsafePointer(to: &times) {
      $0.withMemoryRebound(to: timespec.self, capacity: 2) { utimensat(shard, name, $0, AT_SYMLINK_NOFOLLOW) }
    }
  }

  /// Runs `body` while holding a lock. Returns `false` if another process holds the lock.
  func alone(_ body: () -> Void) -> Bool {
    let file = openat(descriptor, "trimming", O_CREAT | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { return false }
    defer { close(file) }
    guard flock(file, LOCK_EX | LOCK_NB) == 0 else { return false }
    body()
    return true
  }

  // MARK: Reading and writing

  /// Reads `count` bytes at an offset, or fewer at the end of the file. Returns `nil` if reading fails.
  static func readFile(_ file: Int32, at offset: Int, count: Int) -> Data? {
    var data = Data(count: count)
    var done = 0
    while done < count {
      let got = data.withUnsafeMutableBytes { bytes in
        pread(file, bytes.baseAddress?.advanced(by: done), count - done, off_t(offset + done))
      }
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { return nil }
      if got == 0 { return data.prefix(done) }
      done += got
    }
    return data
  }

  static func writeFile(_ data: Data, to file: Int32, at offset: Int) throws {
    try data.withUnsafeBytes { bytes in
      var done = 0
      while done < bytes.count {
        let put = pwrite(file, bytes.baseAddress?.advanced(by: done), bytes.count - done, off_t(offset + done))
        if put < 0, errno == EINTR { continue }
        guard put > 0 else { throw failure("can't store a response: \(reason)") }
        done += put
      }
    }
  }

  private static var reason: String { String(cString: strerror(errno)) }

  private static func failure(_ reason: String) -> TaskError {
    let underlying = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    return TaskError(.fileNotWritable, reason, phase: .finishing, underlying: underlying)
  }
}

extension Date {
  /// The nanoseconds since 1970, clamped to fit 64 bits.
  var nanoseconds: Int { Int(max(0, min(9e9, timeIntervalSince1970)) * 1e9) }
}
