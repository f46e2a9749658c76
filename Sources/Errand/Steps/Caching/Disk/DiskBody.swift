import ErrandFoundation

/// A response body in a ``DiskCache`` file. Every frame is verified before any of its bytes are returned.
final class DiskBody: HTTPBodySource {
  private struct State {
    var file: Int32
    var next: Int
  }

  private let layout: DiskLayout
  private let range: Range<Int>
  private let state: Lock<State>
  private let onDamage: @Sendable () -> Void

  /// Takes ownership of an open file descriptor.
  init(_ file: Int32, _ layout: DiskLayout, _ range: Range<Int>, onDamage: @escaping @Sendable () -> Void) {
    self.layout = layout
    self.range = range
    self.onDamage = onDamage
    state = Lock(State(file: file, next: range.lowerBound))
  }

  deinit { cancel() }

  func next() async throws -> Data? {
    do {
      return try state.withLock { state in
        guard state.next < range.upperBound else { return nil }
        guard state.file >= 0 else { throw CancellationError() }
        let number = state.next / DiskLayout.frameSize
        let bytes = try Self.frame(number, of: state.file, layout)
        let start = number * DiskLayout.frameSize
        let piece = bytes.dropFirst(state.next - start).prefix(range.upperBound - state.next)
        state.next += piece.count
        return piece.count == bytes.count ? bytes : Data(piece)
      }
    } catch let error as TaskError {
      onDamage()
      throw error
    }
  }

  /// Reads a frame. Throws an error if the frame's checksum does not match.
  static func frame(_ number: Int, of file: Int32, _ layout: DiskLayout) throws -> Data {
    let length = layout.length(ofFrame: number)
    guard let frame = DiskFolder.readFile(file, at: layout.offset(ofFrame: number), count: length + 8),
      frame.count == length + 8, let bytes = DiskLayout.checked(frame, number: number)
    else {
      throw TaskError(
        .truncatedBody, "a cached response was damaged and has been removed: the next call requests it from the server",
        phase: .receiving)
    }
    return bytes
  }

  func cancel() {
    state.withLock { state in
      if state.file >= 0 { close(state.file) }
      state.file = -1
    }
  }
}

/// A descriptor that is closed when the last reference is released.
final class OpenFile: Sendable {
  private let descriptor: Int32

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  func copy() throws -> Int32 {
    let copy = Descriptor.copy(of: descriptor)
    guard copy >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EMFILE) }
    return copy
  }
}
