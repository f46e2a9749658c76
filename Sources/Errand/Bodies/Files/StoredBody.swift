import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

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

  deinit { cancel() }

  /// The next chunk. The first read opens the file: mostly there is none.
  func next() async throws -> Data? {
    try state.withLock { state in
      if !state.isOpened {
        state.isOpened = true
        state.descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard state.descriptor >= 0 else { throw failure() }
      }
      guard state.descriptor >= 0 else { return nil }
      var chunk = Data(count: Self.chunkSize)
      var count = -1
      repeat {
        count = chunk.withUnsafeMutableBytes { read(state.descriptor, $0.baseAddress, $0.count) }
      } while count < 0 && errno == EINTR
      guard count >= 0 else { throw failure() }
      return count > 0 ? chunk.prefix(count) : nil
    }
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
