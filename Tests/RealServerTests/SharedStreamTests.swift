#if os(Linux)
  import Errand
  import Foundation
  import Testing

  /// Streams on one HTTP/2 connection must not affect each other.
  @Suite(
    .speaksHTTP2,
    .enabled(if: HTTP2Peer.isExpected, "openssl, or python3 with the package h2, is not installed"),
    .timeLimit(.minutes(3)))
  struct SharedStreamTests {
    /// Runs uploads of all kinds during a fast download.
    ///
    /// If one stream reads bytes of another stream, libcurl 7.88 buffers them, and drops them when the first stream's
    /// upload of unknown length ends. A download without a length then succeeds although bytes in the middle are
    /// missing.
    @Test(.resetsStreamsBesideUploads, arguments: [nil, 10, 100_000] as [Int64?])
    func `finishing an upload does not affect a concurrent download`(length: Int64?) async throws {
      let peer = try await HTTP2Peer()
      let transport = try peer.transport()
      let count = 16_000
      let download = try await transport.send(
        HTTPRequest(.get, peer.url.appendingPathComponent("burst/\(count)")))
      async let body = download.body.collect()
      try await withThrowingTaskGroup { group in
        for _ in 0..<4 {
          group.addTask {
            for _ in 0..<50 {
              let text = try await transport.send(Self.upload(length, to: peer)).body.collect()
              #expect(text == Data("hello".utf8))
            }
          }
        }
        try await group.waitForAll()
      }
      let expected = (0..<count).map { number in
        let digits = "\(number)"
        return String(repeating: String(repeating: "0", count: 8 - digits.count) + digits, count: 125)
      }
      #expect(try await body == Data(expected.joined().utf8))
    }

    private static func upload(_ length: Int64?, to peer: HTTP2Peer) -> HTTPRequest {
      let size = Int(length ?? 1000)
      let body = HTTPBody.stream(length: length) {
        AsyncStream { chunks in
          chunks.yield(Data(count: size))
          chunks.finish()
        }
      }
      var options = TransferOptions()
      options.timeouts = Timeouts(attempt: .seconds(60))
      return HTTPRequest(.post, peer.url.appendingPathComponent("hello"), body: body, options: options)
    }

    /// The server opens its window step by step, so a stream never receives more than one window.
    @Test func `an upload resumes whenever the server's window opens`() async throws {
      let peer = try await HTTP2Peer()
      let transport = try peer.transport()
      let body = HTTPBody.bytes(Data(count: 1_000_000))
      try await withThrowingTaskGroup { group in
        for _ in 0..<8 {
          group.addTask {
            for _ in 0..<10 {
              let request = HTTPRequest(.put, peer.url.appendingPathComponent("count"), body: body)
              let text = try await transport.send(request).body.collect()
              #expect(text == Data("1000000".utf8))
            }
          }
        }
        try await group.waitForAll()
      }
    }
  }
#endif
