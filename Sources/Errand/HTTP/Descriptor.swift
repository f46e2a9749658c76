package import ErrandFoundation

/// Wrappers for system calls on file descriptors. They handle interrupted calls and partial writes.
///
/// If a system call fails, they return `nil` or `false` and set `errno`. Reading at the end of a file returns empty
/// data.
package enum Descriptor {
  /// Opens a regular file for reading. Returns `nil` if the file can't be opened or isn't a regular file: a pipe or a
  /// device could block without a way to cancel.
  package static func opened(_ path: String) -> Int32? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      return nil
    }
    return descriptor
  }

  /// Reads a regular file owned by the current user. Returns `nil` if it can't be read, has `limit` bytes or more, or
  /// is a symbolic link.
  package static func contents(ofOwn path: String, below limit: Int) -> Data? {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else {
      return nil
    }
    var data = Data()
    while data.count < limit, let chunk = bytes(of: descriptor, atMost: 64 << 10) {
      guard !chunk.isEmpty else { return data }
      data.append(chunk)
    }
    return nil
  }

  package static func length(of descriptor: Int32) -> Int64? {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : nil
  }

  package static func bytes(of descriptor: Int32, atMost count: Int) -> Data? {
    var chunk = Data(count: count)
    var length = -1
    repeat {
      length = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    } while length < 0 && errno == EINTR
    return length < 0 ? nil : chunk.prefix(length)
  }

  @discardableResult
  package static func put(_ data: Data, into descriptor: Int32) -> Bool {
    data.withUnsafeBytes { put($0, into: descriptor) }
  }

  static func put(_ bytes: UnsafeRawBufferPointer, into descriptor: Int32) -> Bool {
    count(putting: bytes, into: descriptor) == bytes.count
  }

  /// Writes the bytes and returns how many were written. Sets `errno` if any bytes were not written.
  package static func count(putting bytes: UnsafeRawBufferPointer, into descriptor: Int32) -> Int {
    var rest = bytes
    while !rest.isEmpty {
      let count = write(descriptor, rest.baseAddress, rest.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
    return bytes.count - rest.count
  }

  /// Writes the data at a position, independently of other writes.
  package static func put(_ data: Data, into descriptor: Int32, at position: Int64) -> Bool {
    var (rest, position) = (data, position)
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(position)) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
      position += Int64(count)
    }
    return true
  }

  package static func bytes(of descriptor: Int32, from position: Int64, atMost count: Int) -> Data? {
    var chunk = Data(count: count)
    var length = -1
    repeat {
      length = chunk.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(position)) }
    } while length < 0 && errno == EINTR
    return length < 0 ? nil : chunk.prefix(length)
  }

  /// Returns another descriptor of the same file, or -1.
  static func copy(of descriptor: Int32) -> Int32 { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }

  /// Closes the descriptor. Used by types that have their own `close` method.
  @discardableResult
  package static func release(_ descriptor: Int32) -> Int32 { close(descriptor) }
}
