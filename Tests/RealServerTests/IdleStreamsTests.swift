#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// HTTP/2 connections without open streams or with abandoned streams.
  @Suite(
    .speaksHTTP2,
    .enabled(if: HTTP2Peer.isExpected, "openssl, or python3 with the package h2, is not installed"),
    .timeLimit(.minutes(3)))
  struct IdleStreamsTests {
    private let peer: HTTP2Peer
    private let transport: CurlTransport

    init() async throws {
      peer = try await HTTP2Peer()
      transport = try peer.transport()
    }

    private func get(_ path: String) async throws -> Data {
      try await transport.send(HTTPRequest(.get, peer.url.appendingPathComponent(path))).body.collect()
    }

    /// Newer libcurl versions close the connection instead of answering the PING.
    @Test func `answers a PING or closes the connection after its only stream has been reset`() async throws {
      await #expect(throws: TaskError.self) { try await get("reset/INTERNAL_ERROR") }
      _ = try await peer.transport().send(HTTPRequest(.get, peer.url.appendingPathComponent("nudge"))).body.collect()
      var isAnswered = false
      let isOver = try await eventually {
        isAnswered = try await peer.noted().contains("PONG")
        let isClosed = await transport.connections().values.allSatisfy { $0.open == 0 }
        return isAnswered || isClosed
      }
      #expect(isOver, "the client neither answered the PING nor closed the connection")
      #expect(try await get("hello") == Data("hello".utf8))
      let stream = isAnswered ? 3 : 1
      #expect(try await peer.seen() == ["GET /reset/INTERNAL_ERROR 1", "GET /hello \(stream)"])
    }

    @Test(arguments: [1, 3])
    func `abandoning one of several streams resets the stream`(others: Int) async throws {
      var held: [Task<Data, any Error>] = []
      for index in 0...others {
        held.append(Task { try await get("hold/\(index)") })
        #expect(try await eventually { try await peer.seen().count == index + 1 })
      }
      let last = held.removeLast()
      last.cancel()
      _ = await last.result
      let stream = try #require(try await peer.seen().last?.split(separator: " ").last)
      #expect(try await eventually { try await peer.noted() == ["RESET \(stream)"] })
      #expect(await transport.connections().values.map(\.open) == [1])
      for task in held { task.cancel() }
      for task in held { _ = await task.result }
    }
  }
#endif
