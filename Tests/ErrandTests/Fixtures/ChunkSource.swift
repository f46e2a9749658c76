import Errand
import ErrandTesting
import Foundation

/// A body source that yields the given chunks and counts how many have been read.
final class ChunkSource: HTTPBodySource {
  let timings: TransferTimings? = nil
  let trailers = HTTPHeaders()
  private let chunks: [Data]
  private let position = Shared(0)

  init(_ chunks: [Data]) { self.chunks = chunks }

  var count: Int { position.withLock { $0 } }

  func next() async throws -> Data? {
    position.withLock { position in
      guard position < chunks.count else { return nil }
      position += 1
      return chunks[position - 1]
    }
  }

  func cancel() {}
}
