#if os(Linux)
  import ErrandTesting
  import Foundation
  import Testing

  @testable import Errand

  @Suite(.timeLimit(.minutes(1))) struct UnpackedBodyTests {
    private struct Broken: Error {}

    /// Yields compressed bytes in pieces, then ends or throws.
    private final class Source: HTTPBodySource {
      let state: Lock<(pieces: [Data], cancels: Int, asked: Int)>
      let end: (any Error)?
      let trailers: HTTPHeaders = ["X-Sum": "7"]

      init(_ pieces: [Data], end: (any Error)? = nil) {
        state = Lock((pieces, 0, 0))
        self.end = end
      }

      func next() async throws -> Data? {
        let piece = state.withLock { state in
          state.asked += 1
          return state.pieces.isEmpty ? nil : state.pieces.removeFirst()
        }
        if piece == nil, let end { throw end }
        return piece
      }

      func cancel() { state.withLock { $0.cancels += 1 } }

      var timings: TransferTimings? {
        guard state.withLock({ $0.pieces.isEmpty }) else { return nil }
        var timings = TransferTimings()
        timings.bytesReceived = 233
        return timings
      }
    }

    private func body(_ source: Source) -> DecompressedBody {
      let limits = DecodingLimits(maximumSize: 1 << 30, maximumRatio: 2000)
      return DecompressedBody(source, Unpacking([.gzip], limits, mayBeEmpty: false))
    }

    @Test func `passes trailers and timings through and adds the decoded size`() async throws {
      let body = body(Source([CompressedSample.gzip]))
      #expect(try await body.next() == CompressedSample.text)
      #expect(body.timings == nil, "the end of the body has not been read yet")
      #expect(try await body.next() == nil)
      #expect(body.timings?.bytesDecoded == 504 && body.timings?.bytesReceived == 233)
      #expect(body.trailers["X-Sum"] == "7")
    }

    @Test func `collects the rest of a body after its first chunk`() async throws {
      let body = body(Source([CompressedSample.zeros, CompressedSample.gzip]))
      let first = try await body.next()?.count ?? 0
      #expect(try await body.collect(upTo: .max).count + first == CompressedSample.zerosCount + 504)
    }

    @Test func `reads compressed data only as needed`() async throws {
      let source = Source([CompressedSample.zeros, CompressedSample.zeros])
      let body = body(source)
      for _ in 0..<100 { #expect(try await body.next()?.count == 64 << 10) }
      #expect(source.state.withLock { $0.asked } == 1)
    }

    @Test func `rethrows a transfer error`() async throws {
      let source = Source([CompressedSample.gzip.prefix(100)], end: Broken())
      await #expect(throws: Broken.self) { try await body(source).collect(upTo: .max) }
    }

    @Test func `cancels the transfer if the body can't be decompressed`() async throws {
      let source = Source([CompressedSample.text, CompressedSample.text])
      await #expect(throws: TaskError.self) { try await body(source).next() }
      #expect(source.state.withLock { $0.cancels } == 1)
    }

    @Test func `cancelling a body discards its buffered data`() async throws {
      let source = Source([CompressedSample.zeros])
      let body = body(source)
      _ = try await body.next()
      body.cancel()
      #expect(source.state.withLock { $0.cancels } == 1)
      await #expect(throws: CancellationError.self) { try await body.next() }
    }

    @Test func `a cancelled reader throws even if data is buffered`() async throws {
      let source = Source([CompressedSample.zeros])
      let body = body(source)
      let reader = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        _ = try await body.next()
      }
      await #expect(throws: CancellationError.self) { try await reader.value }
      #expect(source.state.withLock { $0.cancels } == 1)
    }
  }
#endif
