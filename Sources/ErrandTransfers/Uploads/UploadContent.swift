import Errand
import ErrandFoundation

/// An upload's content: a file, or bytes from a closure.
enum UploadContent: Sendable {
  case file(URL)
  case given(ResumableUpload.Bytes)

  /// The maximum size, in bytes, of a chunk held in memory.
  static let largestGivenPiece: Int64 = 64 << 20

  /// Returns the bytes of a chunk from the closure, or `nil` if the content is a file, which is read while it is sent.
  /// Throws `TaskError` with code `.unreadableBody` if the closure returns too many bytes. Rethrows errors from the
  /// closure.
  func bytes(of piece: UploadPiece) async throws -> Data? {
    guard case .given(let bytes) = self else { return nil }
    guard piece.count > 0 else { return Data() }
    let data = try await bytes(piece.offset, Int(piece.count))
    guard data.count <= piece.count else {
      throw Self.unreadable(
        "the closure returned \(data.count) bytes at offset \(piece.offset), but only \(piece.count) were requested")
    }
    return data
  }

  func digest(of piece: UploadPiece, _ data: Data?, by checksum: UploadChecksum) async throws -> Data {
    guard let data else { return try await digest(from: piece.offset, count: piece.count, by: checksum) }
    var hash = checksum.hash
    hash.update(data)
    return Data(hash.finish())
  }

  /// Returns the digest of a byte range of the file.
  func digest(from offset: Int64, count: Int64, by checksum: UploadChecksum) async throws -> Data {
    var hash = checksum.hash
    guard case .file(let url) = self, let descriptor = Descriptor.opened(url.path) else {
      throw Self.unreadable("the file can't be opened: it may have been moved or deleted")
    }
    defer { Descriptor.release(descriptor) }
    guard lseek(descriptor, off_t(offset), SEEK_SET) >= 0 else {
      throw Self.unreadable("can't read the file at offset \(offset)")
    }
    var left = Int(count)
    while left > 0, let chunk = Descriptor.bytes(of: descriptor, atMost: min(left, 256 << 10)), !chunk.isEmpty {
      hash.update(chunk)
      left -= chunk.count
      try Task.checkCancellation()
      await Task.yield()
    }
    guard left == 0 else { throw Self.unreadable("\(url.path) was truncated during the upload") }
    return Data(hash.finish())
  }

  static func unreadable(_ reason: String) -> TaskError {
    TaskError(.unreadableBody, reason, phase: .preparing)
  }
}
