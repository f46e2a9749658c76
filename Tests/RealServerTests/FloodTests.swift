#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// A peer that sends an endless flood of HTTP/2 frames that belong to no exchange.
  @Suite(
    .speaksHTTP2,
    .enabled(if: HTTP2Peer.isExpected, "openssl, or python3 with the package h2, is not installed"),
    .timeLimit(.minutes(3)))
  struct FloodTests {
    private let peer: HTTP2Peer
    private let other: MockServer
    private let transport: CurlTransport
    private let clock = ContinuousClock()

    init() async throws {
      peer = try await HTTP2Peer()
      other = try MockServer()
      other.route("/hello", answer: .text("hello"))
      // A connection limit keeps all exchanges on one loop.
      transport = try peer.transport(connectionsPerOrigin: 8)
    }

    /// Each flood lasts until a time limit passes. Before the flood, the peer sends nothing, a response head, or a body
    /// that is larger than the read-ahead buffer.
    @Test(arguments: ["nothing", "0", "4000000"])
    func `a flood of PINGs causes a timeout and does not affect other servers`(before: String) async throws {
      let start = clock.now
      async let end: Void = expectEnd(of: "flood/\(before)")
      try await withThrowingTaskGroup { group in
        for _ in 0..<8 {
          group.addTask {
            while clock.now - start < .seconds(1) {
              let duration = try await clock.measure { try await hello() }
              #expect(duration < .seconds(10))
            }
          }
        }
        try await group.waitForAll()
      }
      await end
    }

    private func hello() async throws {
      _ = try await transport.send(HTTPRequest(.get, other.url.appendingPathComponent("hello"))).body.collect()
    }

    private func expectEnd(of path: String) async {
      var request = HTTPRequest(.get, peer.url.appendingPathComponent(path))
      request.options.timeouts = Timeouts(firstByte: .milliseconds(500), idle: .milliseconds(500))
      let duration = await clock.measure {
        let error = await #expect(throws: TaskError.self) {
          let body = try await transport.send(request).body
          // If the reader is slow, the loop handles other sockets while the reader's connection is paused.
          while try await body.next() != nil { try await hello() }
        }
        // If the peer is slower, libcurl returns between frames, and the timeout ends the exchange. Newer versions of
        // nghttp2 have their own limit and close the connection.
        let codes: [TaskError.Code] = [.timedOut, .badResponse, .connectionLost, .truncatedBody]
        #expect(error.map { codes.contains($0.code) } ?? false, "\(error.map { "\($0)" } ?? "")")
      }
      #expect(duration < .seconds(15))
    }
  }
#endif
