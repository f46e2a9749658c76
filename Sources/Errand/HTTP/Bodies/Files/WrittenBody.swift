import ErrandFoundation

/// A body that was written to a file. It can be read until the file is published or closed, which removes it.
final class WrittenBody: FileBody {
  let size: Int
  /// `nil` after the file has been published or closed.
  private let file: Lock<PartialFile?>

  init(_ file: PartialFile, size: Int) {
    self.size = size
    self.file = Lock(file)
  }

  deinit { close() }

  func publish<Place>(_ publish: (PartialFile) throws -> Place) throws -> Place {
    guard let file = file.withLock({ $0.take() }) else { throw closed }
    return try publish(file)
  }

  func close() { file.withLock { $0.take() }?.discard() }

  func reader() -> any HTTPBodySource { Reader(self) }

  private var closed: TaskError {
    TaskError(
      .bodyConsumed, "the body of \(size) bytes was written to a file: read that file, or keep the bytes in a step",
      phase: .finishing)
  }

  private func chunk(from position: Int64, atMost size: Int) throws -> Data {
    try file.withLock { file in
      guard let file else { throw closed }
      return try file.chunk(from: position, atMost: size)
    }
  }

  private final class Reader: HTTPBodySource {
    private static let chunkSize = 64 << 10

    private let body: WrittenBody
    private let position = Lock(Int64(0))

    init(_ body: WrittenBody) { self.body = body }

    func next() async throws -> Data? {
      let start = position.withLock { $0 }
      let chunk = try body.chunk(from: start, atMost: Self.chunkSize)
      position.withLock { $0 = start + Int64(chunk.count) }
      return chunk.isEmpty ? nil : chunk
    }
  }
}
