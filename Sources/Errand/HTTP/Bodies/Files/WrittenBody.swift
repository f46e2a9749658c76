import ErrandFoundation

/// A body that was written to a file and can be read from there. The file is removed unless it is published.
final class WrittenBody: FileBody {
  let size: Int
  private let file: Lock<PartialFile?>
  private let content: Content

  /// If the file can't be opened for reading, removes it and throws ``TaskError`` with code `.fileNotWritable`.
  init(_ file: PartialFile, size: Int) throws {
    self.size = size
    content = try Content(file)
    self.file = Lock(file)
  }

  deinit { file.withLock { $0 }?.discard() }

  func publish<Place>(_ publish: (PartialFile) throws -> Place) throws -> Place {
    let file = file.withLock { $0.take() }
    guard let file else {
      throw TaskError(.internal, "the file \(content.path) was already published", phase: .finishing)
    }
    return try publish(file)
  }

  /// The content of the file. Readable until the file is published.
  var contents: HTTPBody { .file(URL(fileURLWithPath: content.path)) }

  func reader() -> any HTTPBodySource { content.reader() }

  var shared: any FileBody { content }

  /// The bytes of the file. Readable even after the file is published or removed.
  private final class Content: FileBody {
    let path: String
    private let descriptor: Int32

    init(_ file: PartialFile) throws {
      path = file.writtenAt.path
      // Open the file now: it may be renamed or removed before it has been read.
      guard let descriptor = Descriptor.opened(path) else {
        let error = PartialFile.failure(at: path)
        file.discard()
        throw error
      }
      self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    func reader() -> any HTTPBodySource { Reader(self) }

    func chunk(from position: Int64, atMost size: Int) throws -> Data {
      guard let chunk = Descriptor.bytes(of: descriptor, from: position, atMost: size) else {
        throw TaskError(
          .fileNotWritable, "can't read back the downloaded file \(path): \(String(cString: strerror(errno)))",
          phase: .finishing)
      }
      return chunk
    }
  }

  private final class Reader: HTTPBodySource {
    private static let chunkSize = 64 << 10

    private let content: Content
    private let position = Lock(Int64(0))

    init(_ content: Content) { self.content = content }

    func next() async throws -> Data? {
      try position.withLock { position in
        let chunk = try content.chunk(from: position, atMost: Self.chunkSize)
        position += Int64(chunk.count)
        return chunk.isEmpty ? nil : chunk
      }
    }
  }
}

extension HTTPResponseBody {
  var written: WrittenBody? { file as? WrittenBody }
}
