#if os(Linux)
  import Errand
  import Foundation
  import Testing

  /// HTTP/2 connections that end in the middle of several bodies.
  @Suite(
    .enabled(if: HTTP2Peer.isExpected, "openssl, or a python3 with its package h2, is not installed"),
    .timeLimit(.minutes(1)))
  struct BrokenConnectionTests {
    @Test(arguments: ["violate", "die"], [1, 4])
    func `no body of unknown length is taken for whole`(end: String, count: Int) async throws {
      let peer = try await HTTP2Peer()
      let transport = try peer.transport()
      func send(_ path: String) async throws -> HTTPResponse {
        var request = HTTPRequest(.get, peer.url.appendingPathComponent(path))
        request.options.timeouts = Timeouts(firstByte: .seconds(3), idle: .seconds(3))
        return try await transport.send(request)
      }
      var bodies: [HTTPResponseBody] = []
      for _ in 0..<count { bodies.append(try await send("partial").body) }
      #expect(await transport.connections().values.map(\.open) == [1])
      await #expect(throws: TaskError.self) { try await send(end) }
      for body in bodies {
        let error = await #expect(throws: TaskError.self) { try await body.collect() }
        // Streams that libcurl does not wake when it gives a connection up end by their limit.
        #expect(error?.code == .truncatedBody || error?.code == .timedOut, "\(error.map { "\($0)" } ?? "")")
      }
    }
  }
#endif
