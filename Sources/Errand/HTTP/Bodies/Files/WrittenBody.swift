import ErrandFoundation

/// A body that was written to a file. It can be read until it is closed, which removes the file unless it was published.
final class WrittenBody: FileBody {
  let size: Int
  private let state: Lock<State>

  private enum State {
    case temporary(PartialFile)
    /// The file has its final name and belongs to the app. Hooks can read it through this descriptor.
    case published(Int32)
    case closed
  }

  init(_ file: PartialFile, size: Int) {
    self.size = size
    state = Lock(.temporary(file))
  }

  deinit { close() }

  func publish<Place>(_ publish: (PartialFile) throws -> Place) throws -> Place {
    let file = try state.withLock { state in
      guard case .temporary(let file) = state else { throw closed }
      let copy = file.copiedDescriptor()
      state = copy < 0 ? .closed : .published(copy)
      return file
    }
    return try publish(file)
  }

  func close() {
    let last = state.withLock { state in
      defer { state = .closed }
      return state
    }
    switch last {
    case .temporary(let file): file.discard()
    case .published(let descriptor): _ = Descriptor.release(descriptor)
    case .closed: break
    }
  }

  func reader() -> any HTTPBodySource { Reader(self) }

  private var closed: TaskError {
    TaskError(
      .bodyConsumed,
      "the body of \(size) bytes was downloaded to a file, and its call has ended: read the file, or keep the bytes in a step",
      phase: .finishing)
  }

  private func chunk(from position: Int64, atMost size: Int) throws -> Data {
    try state.withLock { state in
      switch state {
      case .temporary(let file): try file.chunk(from: position, atMost: size)
      case .published(let descriptor): try PartialFile.chunk(of: descriptor, from: position, atMost: size)
      case .closed: throw closed
      }
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
