public import ErrandFoundation

extension HTTPBody {
  /// Hands every chunk to `sink`, in order, each when the one before was taken. For transports.
  ///
  /// - Parameter sink: Takes one chunk; what it throws ends the reading.
  /// - Throws: ``TaskError`` with code `.unreadableBody` for a file that cannot be read, `.bodyNotReplayable` for a body
  ///   that comes once and was read before, `.bodyLengthMismatch` for chunks that come to more or less than the stated
  ///   length; and what the body's stream or `sink` throws.
  public func readChunks(_ sink: @escaping @Sendable (Data) async throws -> Void) async throws {
    do {
      try await forEachCountedChunk(sink)
    } catch {
      throw TaskError.ofTransfer(error)
    }
  }

  /// Hands every chunk to `sink`, in order.
  /// Throws ``TaskError`` with code `.bodyLengthMismatch` when they come to more or less than the stated length.
  package func forEachCountedChunk(_ sink: @Sendable (Data) async throws -> Void) async throws {
    guard let stated = try length() else { return try await forEachChunk(sink) }
    let count = Lock<Int64>(0)
    try await forEachChunk { chunk in
      let sum = count.withLock { count in
        count += Int64(chunk.count)
        return count
      }
      guard sum <= stated else { throw Self.mismatch("more than the stated \(stated) bytes") }
      try await sink(chunk)
    }
    let sum = count.withLock { $0 }
    guard sum == stated else { throw Self.mismatch("\(sum) bytes, less than the stated \(stated)") }
  }

  private static func mismatch(_ difference: String) -> TaskError {
    TaskError(.bodyLengthMismatch, "the body has \(difference)", phase: .sending)
  }
}
