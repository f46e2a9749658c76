package import ErrandFoundation

/// The system's calls on descriptors, with what they leave to be done again: interrupted calls and partial writes.
package enum Descriptor {
  /// Opens a plain file to be read; nil where there is none that can be. Of anything else than a file, opening would
  /// wait for its other end, and nothing could cancel that.
  static func opened(_ path: String) -> Int32? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      return nil
    }
    return descriptor
  }

  /// The bytes of a plain file of this user's; nil where there is none, it is no smaller than `limit`, or somebody has planted a link or
  /// something else in its place.
  static func contents(ofOwn path: String, below limit: Int) -> Data? {
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

  /// The number of bytes of the file; nil and `errno` where the system does not say.
  static func length(of descriptor: Int32) -> Int64? {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? Int64(status.st_size) : nil
  }

  /// At most `count` of the bytes that follow, none at the end; nil and `errno` when they cannot be read.
  static func bytes(of descriptor: Int32, atMost count: Int) -> Data? {
    var chunk = Data(count: count)
    var length = -1
    repeat {
      length = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    } while length < 0 && errno == EINTR
    return length < 0 ? nil : chunk.prefix(length)
  }

  /// Writes all of `data`; false and `errno` when some of it cannot be written.
  @discardableResult
  package static func put(_ data: Data, into descriptor: Int32) -> Bool {
    data.withUnsafeBytes { put($0, into: descriptor) }
  }

  /// Writes all of these bytes; false and `errno` when some of them cannot be written.
  static func put(_ bytes: UnsafeRawBufferPointer, into descriptor: Int32) -> Bool {
    count(putting: bytes, into: descriptor) == bytes.count
  }

  /// Writes these bytes; returns how many, and sets `errno` where that is not all of them.
  static func count(putting bytes: UnsafeRawBufferPointer, into descriptor: Int32) -> Int {
    var rest = bytes
    while !rest.isEmpty {
      let count = write(descriptor, rest.baseAddress, rest.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
    return bytes.count - rest.count
  }

  /// Writes all of `data` from a position on, whatever is written elsewhere; false and `errno` when some of it cannot be written.
  static func put(_ data: Data, into descriptor: Int32, at position: Int64) -> Bool {
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

  /// At most `count` bytes from a position on; nil and `errno` when they cannot be read.
  static func bytes(of descriptor: Int32, from position: Int64, atMost count: Int) -> Data? {
    var chunk = Data(count: count)
    var length = -1
    repeat {
      length = chunk.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(position)) }
    } while length < 0 && errno == EINTR
    return length < 0 ? nil : chunk.prefix(length)
  }

  /// Closes it, for types that have a `close` of their own.
  @discardableResult
  package static func release(_ descriptor: Int32) -> Int32 { close(descriptor) }
}
