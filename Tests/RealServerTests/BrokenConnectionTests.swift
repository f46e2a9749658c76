#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// HTTP/2 connections that break while several bodies are being received.
  @Suite(
    .speaksHTTP2,
    .enabled(if: HTTP2Peer.isExpected, "openssl, or python3 with the package h2, is not installed"),
    .timeLimit(.minutes(3)))
  struct BrokenConnectionTests {
    @Test(arguments: ["violate", "die"], [1, 4])
    func `a body of unknown length throws if its connection breaks`(end: String, count: Int) async throws {
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
        // A stream times out if libcurl does not end it. libcurl 8.16 reports the violated rule.
        let ends: [TaskError.Code?] = [.truncatedBody, .timedOut, .badResponse]
        #expect(ends.contains(error?.code), "\(error.map { "\($0)" } ?? "")")
      }
    }

    // libcurl 7.88 loses data that arrives with the end of the last stream after a GOAWAY.
    @Test func `a response that follows a GOAWAY is complete or fails`() async throws {
      let peer = try await HTTP2Peer()
      for size in [1, 40_000, 100_000, 300_000] {
        let request = HTTPRequest(.get, peer.url.appendingPathComponent("drain/\(size)"))
        do {
          let body = try await peer.transport().send(request).body.collect()
          #expect(body.count == size)
        } catch let error as TaskError {
          #expect(error.code == .truncatedBody || error.code == .connectionLost, "\(error)")
        }
      }
    }

    // If a stream is refused twice, libcurl opens another connection and keeps it without using it.
    @Test(.saysNothingOfRefusals, .keepsClosedConnections)
    func `reuses a connection that was opened but not used`() async throws {
      let peer = try await HTTP2Peer()
      let transport = try peer.transport()
      var options = TransferOptions()
      options.mayRepeat = true
      let refused = HTTPRequest(.get, peer.url.appendingPathComponent("reset/REFUSED_STREAM"), options: options)
      await #expect(throws: TaskError.self) { try await transport.send(refused) }
      #expect(try await peer.seen().count == 2)
      // Omit the length, so that the transport must know that the connection is alive.
      let request = HTTPRequest(.get, peer.url.appendingPathComponent("unstated"))
      for _ in 0..<3 {
        let body = try await transport.send(request).body.collect()
        #expect(body == Data("ok".utf8))
      }
      #expect(await eventually { await transport.connections().values.map(\.open) == [1] })
    }
  }
#endif
