import ErrandFoundation

/// A body that is stored as it is read. Only complete bodies are stored. Storage errors don't affect the reader.
final class CacheTee: HTTPBodySource {
  private let body: HTTPResponseBody
  private let chunks: HTTPResponseBody.AsyncIterator
  /// The writer. `nil` after the end of the body or an error.
  private let writer: Lock<(any CacheWriter)?>

  init(_ body: HTTPResponseBody, _ writer: any CacheWriter) {
    self.body = body
    chunks = body.makeAsyncIterator()
    self.writer = Lock(writer)
  }

  deinit { discard() }

  func next() async throws -> Data? {
    do {
      guard let chunk = try await chunks.next() else {
        await commit()
        return nil
      }
      await write(chunk)
      return chunk
    } catch {
      discard()
      throw error
    }
  }

  func cancel() {
    discard()
    body.cancel()
  }

  var trailers: HTTPHeaders { body.trailers }

  var timings: TransferTimings? { body.timings }

  private func write(_ chunk: Data) async {
    guard let writer = writer.withLock({ $0 }) else { return }
    do {
      try await writer.write(chunk)
    } catch {
      discard()  // too large, or the disk is full: don't store the response
    }
  }

  private func commit() async { try? await take()?.commit() }  // ignore errors, as in `write`

  private func discard() { take()?.discard() }

  private func take() -> (any CacheWriter)? {
    writer.withLock { writer in
      defer { writer = nil }
      return writer
    }
  }
}
