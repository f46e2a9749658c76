import ErrandFoundation

/// A body that is stored as it is read. Only complete bodies are stored. Storage errors don't affect the reader.
final class CacheTee: HTTPBodySource {
  private let body: HTTPResponseBody
  private let chunks: HTTPResponseBody.AsyncIterator
  private let writer: CurrentWriter

  init(_ body: HTTPResponseBody, _ writer: CurrentWriter) {
    self.body = body
    chunks = body.makeAsyncIterator()
    self.writer = writer
  }

  func next() async throws -> Data? {
    do {
      guard let chunk = try await chunks.next() else {
        await writer.commit()
        return nil
      }
      await writer.write(chunk)
      return chunk
    } catch {
      writer.discard()
      throw error
    }
  }

  func cancel() {
    writer.discard()
    body.cancel()
  }

  var trailers: HTTPHeaders { body.trailers }

  var timings: TransferTimings? { body.timings }
}
