#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// Peers that send endless data outside a body, while the same loop serves exchanges with another server.
  @Suite(.balancedEvents, .timeLimit(.minutes(2)))
  struct StarvingPeerTests {
    private let transport: CurlTransport
    private let other: WirePeer
    private let clock = ContinuousClock()

    init() throws {
      var configuration = CurlTransport.Configuration()
      configuration.connectionsPerOrigin = 16  // keeps all exchanges on one loop
      configuration.idleLifetime = .seconds(3600)  // so that the lifetime doesn't close connections
      transport = try CurlTransport(configuration)
      other = try WirePeer { connection, _ in
        while connection.readRequest() != nil { connection.answer("hello") }
      }
    }

    /// Returns a peer that answers with a one-byte chunk and then repeats `endless`.
    private static func peer(_ start: String, _ endless: String) throws -> WirePeer {
      let piece = String(repeating: endless, count: (1 << 18) / endless.utf8.count)
      return try WirePeer { connection, _ in
        guard connection.readRequest() != nil else { return }
        connection.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n\(start)")
        while connection.say(piece) {}
      }
    }

    private static func peerOfEndlessExtension() throws -> WirePeer { try peer("5;", "a") }

    private func request(_ peer: WirePeer, idle: Duration = .seconds(20)) -> HTTPRequest {
      var request = HTTPRequest(.get, peer.url())
      request.options.timeouts = Timeouts(idle: idle)
      return request
    }

    private func expectOthersGoOn() async throws {
      let duration = try await clock.measure {
        for _ in 0..<8 {
          _ = try await transport.send(HTTPRequest(.get, other.url())).body.collect()
        }
      }
      #expect(duration < .seconds(5), "each exchange takes 0.9 s if libcurl keeps reading the endless data")
    }

    @Test func `an endless chunk extension times out without blocking other exchanges`() async throws {
      let peer = try Self.peerOfEndlessExtension()
      let start = clock.now
      let body = try await transport.send(request(peer, idle: .seconds(2))).body
      async let error = #expect(throws: TaskError.self) { try await body.collect() }
      try await expectOthersGoOn()
      #expect(await error?.timer == .idle)
      #expect(clock.now - start < .seconds(15))
    }

    @Test func `cancelling ends an endless chunk extension immediately`() async throws {
      let peer = try Self.peerOfEndlessExtension()
      var total = Duration.zero
      for _ in 0..<5 {
        let body = try await transport.send(request(peer)).body
        #expect(try await body.next() == Data("x".utf8))
        total += await clock.measure {
          let rest = Task { try await body.next() }
          rest.cancel()
          await #expect(throws: CancellationError.self) { try await rest.value }
        }
        #expect(await eventually { await transport.connections()[Origin(peer.url())?.description ?? ""] == nil })
      }
      #expect(total < .milliseconds(1500), "each exchange takes 0.4 s if libcurl keeps reading the endless data")
    }

    @Test func `rejects endless trailers without blocking other exchanges`() async throws {
      let peer = try Self.peer("0\r\n", "X-Trailer: \(String(repeating: "t", count: 40))\r\n")
      let body = try await transport.send(request(peer)).body
      async let error = #expect(throws: TaskError.self) { try await body.collect() }
      try await expectOthersGoOn()
      #expect(await error?.code == .badResponse)
    }
  }
#endif
