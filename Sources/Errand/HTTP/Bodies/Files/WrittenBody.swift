import ErrandFoundation

/// A body that was written to a file and can be read from there. The file is removed unless it is published.
final class WrittenBody: FileBody {
  let size: Int
  private let path: String
  private let file: Lock<PartialFile?>
  private let descriptor: Int32

  /// If the file can't be opened for reading, removes it and throws ``TaskError`` with code `.fileNotWritable`.
  init(_ file: PartialFile, size: Int) throws {
    self.size = size
    path = file.writtenAt.path
    // Open the file now: it may be renamed or removed before it has been read.
    guard let descriptor = Descriptor.opened(path) else {
      let error = PartialFile.failure(at: path)
      file.discard()
      throw error
    }
    self.descriptor = descriptor
    self.file = Lock(file)
  }

  deinit {
    file.withLock { $0 }?.discard()
    close(descriptor)
  }

  func publish<Place>(_ publish: (PartialFile) throws -> Place) throws -> Place {
    let file = file.withLock { $0.take() }
    guard let file else { throw TaskError(.internal, "the file \(path) was already published", phase: .finishing) }
    return try publish(file)
  }

  /// The content of the file. Readable until the file is published.
  var contents: HTTPBody { .file(URL(fileURLWithPath: path)) }

  func reader() -> any HTTPBodySource { Reader(self) }

  private final class Reader: HTTPBodySource {
    private static let chunkSize = 64 << 10

    private let body: WrittenBody
    private let position = Lock(Int64(0))

    init(_ body: WrittenBody) { self.body = body }

    func next() async throws -> Data? {
      try position.withLock { position in
        guard let chunk = Descriptor.bytes(of: body.descriptor, from: position, atMost: Self.chunkSize) else {
          throw TaskError(
            .fileNotWritable, "can't read back the downloaded file \(body.path): \(String(cString: strerror(errno)))",
            phase: .finishing)
        }
        position += Int64(chunk.count)
        return chunk.isEmpty ? nil : chunk
      }
    }
  }
}

extension HTTPResponseBody {
  var written: WrittenBody? { file as? WrittenBody }
}
