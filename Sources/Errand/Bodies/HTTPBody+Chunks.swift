public import ErrandFoundation

extension HTTPBody {
  /// Hands every chunk to `sink`, in order, each when the one before was taken. For transports.
  ///
  /// - Parameter sink: Takes one chunk; what it throws ends the reading.
  /// - Throws: ``TaskError`` with code `.unreadableBody` for a file that cannot be read, `.bodyNotReplayable` for a body
  ///   that comes once and was read before, `.bodyLengthMismatch` for chunks that come to more or less than the stated
  ///   length; and what the body's stream or `sink` throws.
  public func readChunks(_ sink: @escaping @Sendable (Data) async throws -> Void) async throws {
    let refusal = Lock<(any Error)?>(nil)
    do {
      try await forEachCountedChunk { chunk in
        do {
          try await sink(chunk)
        } catch {
          refusal.withLock { $0 = error }
          throw error
        }
      }
    } catch {
      // What the maker of the body says of its own requests is not about this one.
      throw refusal.withLock { $0 } ?? TaskError.ofUpload(error)
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

  /// The fields that follow the body, made anew; empty for most. For transports, once they have sent all chunks.
  ///
  /// - Returns: The fields.
  /// - Throws: What the maker of the fields throws; ``TaskError`` with code `.badRequest` for one that was not announced, or would
  ///   break the message.
  public func trailerFields() async throws -> HTTPHeaders {
    guard let trailers else { return HTTPHeaders() }
    let fields: HTTPHeaders
    do { fields = try await trailers.make() } catch { throw TaskError.ofUpload(error) }  // nor is it about this request
    for field in fields where !trailers.names.contains(field.name) {
      throw Self.refusal(of: field.name, "was not announced")
    }
    if let field = fields.firstInvalid { throw Self.refusal(of: field.name, "has a line break or a NUL in its value") }
    return fields
  }

  private static func refusal(of name: HTTPHeaderName, _ fault: String) -> TaskError {
    TaskError(
      .badRequest, "the field \(name.rawName.shortened.debugDescription) after the body cannot be sent: it \(fault)",
      phase: .sending)
  }

  private static func mismatch(_ difference: String) -> TaskError {
    TaskError(.bodyLengthMismatch, "the body has \(difference)", phase: .sending)
  }
}
