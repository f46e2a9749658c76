#if os(Linux)
  import Dispatch
  import Errand
  import ErrandTesting
  import Foundation
  import Glibc
  import Testing

  /// Idle connections on a Unix socket, which libcurl can't identify by a port.
  @Suite(.balancedEvents, .timeLimit(.minutes(1)))
  struct IdleUnixConnectionTests {
    private let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).socket").path

    private func transport(_ change: (inout CurlTransport.Configuration) -> Void = { _ in }) throws -> CurlTransport {
      var configuration = CurlTransport.Configuration()
      configuration.unixSocket = path
      configuration.idleLifetime = .seconds(3600)  // so that the lifetime doesn't close connections
      change(&configuration)
      return try CurlTransport(configuration)
    }

    private func get(_ peer: WirePeer, _ path: String = "", over transport: CurlTransport) async throws -> String {
      let body = try await transport.send(HTTPRequest(.get, peer.url(path))).body
      return String(decoding: try await body.collect(), as: UTF8.self)
    }

    private func openCount(_ transport: CurlTransport) async -> Int {
      await transport.connections().values.reduce(0) { $0 + $1.open }
    }

    @Test(.keepsConnections) func `closes an idle connection immediately when the server does`() async throws {
      let isTimeToClose = DispatchSemaphore(value: 0)
      let peer = try WirePeer(socketPath: path) { connection, _ in
        guard connection.readRequest() != nil else { return }
        connection.answer("one")
        isTimeToClose.wait()
      }
      let transport = try transport()
      #expect(try await get(peer, over: transport) == "one")
      #expect(await openCount(transport) == 1)
      isTimeToClose.signal()
      #expect(await eventually { await openCount(transport) == 0 }, "the connection is closed without another call")
    }

    @Test func `closes a connection with an unsolicited response and ignores the response`() async throws {
      let isTimeToSpeak = DispatchSemaphore(value: 0)
      let peer = try WirePeer(socketPath: path) { connection, index in
        guard connection.readRequest() != nil else { return }
        connection.answer("\(index)")
        guard index == 0 else { return connection.waitForEnd() }
        isTimeToSpeak.wait()
        connection.answer("evil")
        connection.waitForEnd()
      }
      let transport = try transport()
      #expect(try await get(peer, over: transport) == "0")
      isTimeToSpeak.signal()
      #expect(await eventually { await openCount(transport) == 0 })
      #expect(try await get(peer, over: transport) == "1")
    }

    @Test func `ignores a second response in the same write`() async throws {
      let peer = try WirePeer(socketPath: path) { connection, _ in
        while let request = connection.readRequest() {
          let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
          let first = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst"
          if request.contains("/first") { connection.say(first + evil) } else { connection.answer("second") }
        }
      }
      let transport = try transport()
      for _ in 0..<50 {
        #expect(try await get(peer, "first", over: transport) == "first")
        #expect(try await get(peer, "second", over: transport) == "second")
      }
    }

    @Test func `a second response does not answer a request that waits for the connection`()
      async throws
    {
      let (isRead, isTimeToAnswer) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let peer = try WirePeer(socketPath: path) { connection, _ in
        while let request = connection.readRequest() {
          guard request.contains("/first") else {
            connection.answer("second")
            continue
          }
          isRead.signal()
          isTimeToAnswer.wait()
          let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
          connection.say("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nf")
          usleep(10_000)  // libcurl reads only up to the stated length
          connection.say("irst" + evil)
        }
      }
      let transport = try transport { $0.connectionsPerOrigin = 1 }
      for _ in 0..<20 {
        async let first = get(peer, "first", over: transport)
        #expect(await eventually { isRead.wait(timeout: .now()) == .success })
        async let second = get(peer, "second", over: transport)
        await giveWay(50)
        _ = await transport.connections()  // the loop has usually received the second request by now
        isTimeToAnswer.signal()
        let bodies = try await [first, second]
        #expect(bodies == ["first", "second"])
      }
    }

    @Test func `closes an idle connection after its lifetime`() async throws {
      let isClosed = DispatchSemaphore(value: 0)
      let peer = try WirePeer(socketPath: path) { connection, _ in
        guard connection.readRequest() != nil else { return }
        connection.answer("x")
        connection.waitForEnd()
        isClosed.signal()
      }
      let transport = try transport { $0.idleLifetime = .milliseconds(100) }
      _ = try await get(peer, over: transport)
      let start = ContinuousClock.now
      #expect(await eventually { await transport.connections().isEmpty })
      // The limit is below the peer's timeout of 20 s and the configured lifetime of one hour.
      #expect(ContinuousClock.now - start < .seconds(15))
      #expect(isClosed.wait(timeout: .now() + 10) == .success)
    }

    @Test func `closes idle connections immediately, even while others are busy`() async throws {
      let (isTimeToAnswer, isTimeToClose) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let isTimeToEnd = DispatchSemaphore(value: 0)
      let peer = try WirePeer(socketPath: path) { connection, index in
        guard let request = connection.readRequest() else { return }
        (request.contains("/last") ? isTimeToEnd : isTimeToAnswer).wait()
        connection.answer("x")
        (request.contains("/last") ? isTimeToEnd : isTimeToClose).wait()
      }
      let transport = try transport()
      async let last = get(peer, "last", over: transport)
      async let first = get(peer, over: transport)
      async let second = get(peer, over: transport)
      #expect(await eventually { await openCount(transport) == 3 })
      for _ in 0..<2 { isTimeToAnswer.signal() }
      _ = try await (first, second)
      for _ in 0..<2 { isTimeToClose.signal() }
      #expect(await eventually { await openCount(transport) == 1 }, "only the connection with an exchange is left")
      isTimeToEnd.signal()
      #expect(try await last == "x")
      isTimeToEnd.signal()
    }

    @Test func `a slow reader keeps its connection while idle connections are closed`() async throws {
      let peer = try WirePeer(socketPath: path) { connection, _ in
        while let request = connection.readRequest() {
          connection.answer(String(repeating: "x", count: request.contains("/large") ? 4 << 20 : 1))
        }
      }
      let transport = try transport { $0.idleLifetime = .milliseconds(300) }
      for _ in 0..<20 {
        async let first = get(peer, over: transport)
        async let second = get(peer, over: transport)
        _ = try await (first, second)
        let body = try await transport.send(HTTPRequest(.get, peer.url("large"))).body
        var count = try await body.next()?.count ?? 0
        #expect(try await get(peer, over: transport) == "x")
        while let chunk = try await body.next() { count += chunk.count }
        #expect(count == 4 << 20)
      }
    }
  }
#endif
