import ErrandFoundation

/// An upload's content: a file, or bytes from a closure.
enum UploadContent: Sendable {
  case file(URL)
  case given(ResumableUpload.Bytes)

  /// The maximum size, in bytes, of a chunk held in memory.
  static let largestGivenPiece: Int64 = 64 << 20

  /// Returns a chunk's bytes from a closure, or `nil` if they are read from a file while being sent. Throws
  /// ``TaskError`` with code `.unreadableBody` if the closure returns too many bytes. Rethrows errors from the closure.
  func bytes(of piece: UploadPiece) async throws -> Data? {
    guard case .given(let bytes) = self else { return nil }
    guard piece.count > 0 else { return Data() }
    let data = try await bytes(piece.offset, Int(piece.count))
    guard data.count <= piece.count else {
      throw Self.unreadable("\(data.count) bytes were provided at offset \(piece.offset) instead of \(piece.count)")
    }
    return data
  }

  func digest(of piece: UploadPiece, _ data: Data?, by checksum: UploadChecksum) async throws -> Data {
    var hash = checksum.hash
    if let data {
      hash.update(data)
      return Data(hash.finish())
    }
    guard case .file(let url) = self, let descriptor = Descriptor.opened(url.path) else {
      throw Self.unreadable("the file no longer exists")
    }
    defer { Descriptor.release(descriptor) }
    guard lseek(descriptor, off_t(piece.offset), SEEK_SET) >= 0 else {
      throw Self.unreadable("the offset is beyond the end of the file")
    }
    var left = Int(piece.count)
    while left > 0, let chunk = Descriptor.bytes(of: descriptor, atMost: min(left, 256 << 10)), !chunk.isEmpty {
      hash.update(chunk)
      left -= chunk.count
      try Task.checkCancellation()
      await Task.yield()
    }
    guard left == 0 else { throw Self.unreadable("\(url.path) is shorter than expected") }
    return Data(hash.finish())
  }

  static func unreadable(_ reason: String) -> TaskError {
    TaskError(.unreadableBody, reason, phase: .preparing)
  }
}
