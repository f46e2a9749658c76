public import ErrandFoundation

extension HTTPBody {
  /// Creates a body from a byte range of a file, which is opened and read for each attempt.
  ///
  ///     .file(backup, bytes: ByteRange(1024...))
  ///
  /// The length is determined when the body is created. If the file is truncated before the range is sent, the call
  /// fails.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - range: The byte range. If it extends past the end of the file, it is shortened.
  ///   - type: The media type. Defaults to `nil`.
  /// - Throws: ``TaskError`` with code `.unreadableBody` if the file can't be read or contains none of the bytes in the
  ///   range.
  public static func file(_ url: URL, bytes range: ByteRange, type: MediaType? = nil) throws -> HTTPBody {
    let path = url.path
    guard let length = try HTTPBody.file(url).checkedLength() else {
      throw TaskError(
        .unreadableBody, "can't send a byte range of \(path) because its size is unknown: send the whole file",
        phase: .preparing, wasNotSent: true)
    }
    guard range.isValid, let part = range.positions(of: Int(clamping: length)) else {
      throw TaskError(
        .unreadableBody, "range \(range) is outside \(path), which has \(length) bytes", phase: .preparing,
        wasNotSent: true)
    }
    return .composed(length: Int64(part.count), isReplayable: true, type: type, isProduced: false) { sink in
      let descriptor = try open(url)
      defer { Descriptor.release(descriptor) }
      guard lseek(descriptor, off_t(part.lowerBound), SEEK_SET) >= 0 else { throw Failure.unreadable(path: path) }
      var left = part.count
      while left > 0, let chunk = Descriptor.bytes(of: descriptor, atMost: min(left, 256 << 10)), !chunk.isEmpty {
        left -= chunk.count
        try await sink(chunk)
      }
    }
  }
}
