public import ErrandFoundation

extension HTTPBody {
  /// Passes every chunk to `sink` in order and waits for `sink` before it reads the next one. For transports.
  ///
  /// - Parameter sink: Receives each chunk. If it throws, reading stops.
  /// - Throws: ``TaskError`` with code `.unreadableBody` if a file can't be read, `.bodyNotReplayable` if the body can
  ///   only be read once and has already been read, or `.bodyLengthMismatch` if the chunks have more or fewer bytes
  ///   than the declared length. Also rethrows any error thrown by the body's stream or by `sink`.
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
      // An error from a request that the body makes is not an error of this request.
      throw refusal.withLock { $0 } ?? TaskError.ofUpload(error)
    }
  }

  /// Passes every chunk to `sink` in order. Throws ``TaskError`` with code `.bodyLengthMismatch` if the size differs
  /// from the declared length.
  package func forEachCountedChunk(_ sink: @Sendable (Data) async throws -> Void) async throws {
    guard let stated = try length() else { return try await forEachChunk(sink) }
    let count = Lock<Int64>(0)
    try await forEachChunk { chunk in
      let sum = count.withLock { count in
        count += Int64(chunk.count)
        return count
      }
      guard sum <= stated else { throw Self.mismatch("more than the declared \(stated) bytes") }
      try await sink(chunk)
    }
    let sum = count.withLock { $0 }
    guard sum == stated else { throw Self.mismatch("\(sum) bytes, fewer than the declared \(stated)") }
  }

  /// Returns the trailer fields, which most bodies don't have. Transports call this after sending all chunks.
  ///
  /// - Throws: ``TaskError`` with code `.badRequest` if a field was not announced or has an invalid value. Also
  ///   rethrows errors of the body's trailer closure.
  public func trailerFields() async throws -> HTTPHeaders {
    guard let trailers else { return HTTPHeaders() }
    let fields: HTTPHeaders
    do { fields = try await trailers.make() } catch { throw TaskError.ofUpload(error) }  // as in `readChunks`
    for field in fields where !trailers.names.contains(field.name) {
      throw Self.refusal(of: field.name, "was not announced")
    }
    if let field = fields.firstInvalid { throw Self.refusal(of: field.name, "has a line break or a NUL in its value") }
    return fields
  }

  private static func refusal(of name: HTTPHeaderName, _ fault: String) -> TaskError {
    TaskError(
      .badRequest, "can't send the trailer field \(name.rawName.shortened.debugDescription): it \(fault)",
      phase: .sending)
  }

  private static func mismatch(_ difference: String) -> TaskError {
    TaskError(.bodyLengthMismatch, "the body has \(difference)", phase: .sending)
  }
}
