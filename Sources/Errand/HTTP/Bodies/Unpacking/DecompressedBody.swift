#if os(Linux)
  import ErrandFoundation

  /// A body that is decompressed as it is read. Only compressed bytes are read ahead.
  ///
  /// The body holds one compressed chunk, one decompressed chunk and the library's window: about 40 KB for gzip and
  /// deflate, up to 16 MB for br and 8 MB for zstd.
  final class DecompressedBody: HTTPBodySource {
    private let compressed: any HTTPBodySource
    /// The lock is held for 0.2 ms per gzip chunk. There is only one reader.
    private let decompressing: Lock<Unpacking>

    init(_ compressed: any HTTPBodySource, _ decompressing: sending Unpacking) {
      self.compressed = compressed
      self.decompressing = Lock(decompressing)
    }

    func next() async throws -> Data? {
      try await read { try $0.next() }
    }

    func collect(upTo limit: Int) async throws -> Data {
      try await read { try $0.whole(upTo: limit) } ?? Data()
    }

    func cancel() {
      compressed.cancel()
      decompressing.withLock { $0.fail(CancellationError()) }
    }

    var trailers: HTTPHeaders { compressed.trailers }

    var timings: TransferTimings? {
      let (isOver, decoded) = decompressing.withLock { ($0.isOver, $0.decoded) }
      guard isOver, var timings = compressed.timings else { return nil }
      timings.bytesDecoded = decoded
      return timings
    }

    private func read(_ step: @Sendable (inout Unpacking) throws -> Unpacking.Reading) async throws -> Data? {
      do {
        while true {
          // Check here: a reader that never suspends would not notice the cancellation.
          try Task.checkCancellation()
          switch try decompressing.withLock({ decompressing in try step(&decompressing) }) {
          case .take(let data): return data
          case .end: return nil
          case .wants:
            let piece = try await compressed.next()
            decompressing.withLock { $0.feed(piece) }
          }
        }
      } catch {
        compressed.cancel()
        decompressing.withLock { $0.fail(error) }
        throw error
      }
    }
  }
#endif
