import ErrandFoundation

/// The body that a call has written to its file, read from there: for the steps that see the call once.
final class StoredBody: HTTPBodySource {
  private struct State {
    var descriptor: Int32 = -1
    var isOpened = false
  }

  private static let chunkSize = 64 << 10

  private let path: String
  private let state = Lock(State())

  init(_ url: URL) { path = url.path }

  /// Opens the file now: it is renamed or removed before the last byte of it is read.
  func open() { state.withLock { open(&$0) } }

  deinit { cancel() }

  /// The next chunk. The first read opens the file: mostly there is none.
  func next() async throws -> Data? {
    try state.withLock { state in
      if !state.isOpened {
        open(&state)
        guard state.isOpened else { throw failure() }
      }
      guard state.descriptor >= 0 else { return nil }
      guard let chunk = Descriptor.bytes(of: state.descriptor, atMost: Self.chunkSize) else { throw failure() }
      return chunk.isEmpty ? nil : chunk
    }
  }

  private func open(_ state: inout State) {
    guard !state.isOpened, let descriptor = Descriptor.opened(path) else { return }
    state = State(descriptor: descriptor, isOpened: true)
  }

  func cancel() {
    state.withLock { state in
      if state.descriptor >= 0 { close(state.descriptor) }
      state = State(isOpened: true)
    }
  }

  private func failure() -> TaskError {
    TaskError(
      .fileNotWritable, "can't read \(path), which was written: \(String(cString: strerror(errno)))",
      phase: .finishing)
  }
}
