import ErrandFoundation

/// A body that was written to a file and can be read from there. The file is removed unless it is published.
final class WrittenBody: HTTPBodySource {
  private struct State {
    var file: PartialFile?
    var descriptor: Int32
  }

  private static let chunkSize = 64 << 10

  let size: Int
  let trailers: HTTPHeaders
  let timings: TransferTimings?
  private let path: String
  private let state: Lock<State>

  init(_ file: PartialFile, size: Int, of body: HTTPResponseBody) {
    self.size = size
    (trailers, timings) = (body.trailers, body.timings)
    path = file.writtenAt.path
    // Open the file now: it may be renamed or removed before it has been read completely.
    state = Lock(State(file: file, descriptor: Descriptor.opened(path) ?? -1))
  }

  deinit {
    let state = state.withLock { $0 }
    state.file?.discard()
    if state.descriptor >= 0 { close(state.descriptor) }
  }

  func publish<Place>(_ publish: (PartialFile) throws -> Place) throws -> Place {
    let file = state.withLock { $0.file.take() }
    guard let file else { throw TaskError(.internal, "the file \(path) was already published", phase: .finishing) }
    return try publish(file)
  }

  /// The content of the file. Readable until the file is published.
  var contents: HTTPBody { .file(URL(fileURLWithPath: path)) }

  func next() async throws -> Data? {
    try state.withLock { state in
      guard state.descriptor >= 0 else { return nil }
      guard let chunk = Descriptor.bytes(of: state.descriptor, atMost: Self.chunkSize) else {
        throw TaskError(
          .fileNotWritable, "can't read back the downloaded file \(path): \(String(cString: strerror(errno)))",
          phase: .finishing)
      }
      return chunk.isEmpty ? nil : chunk
    }
  }

  func cancel() {}
}

extension HTTPResponseBody {
  var written: WrittenBody? { source as? WrittenBody }
}
