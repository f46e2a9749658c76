#if os(Linux)
  import Dispatch
  import Errand
  import ErrandTesting
  import Foundation
  import Glibc
  import Testing

  /// Idle connections between two requests.
  @Suite(.balancedEvents, .timeLimit(.minutes(1)))
  struct IdleConnectionTests {
    private let transport: CurlTransport

    init() throws {
      var configuration = CurlTransport.Configuration()
      configuration.idleLifetime = .seconds(3600)  // so that the lifetime doesn't close connections
      transport = try CurlTransport(configuration)
    }

    private func get(_ url: URL, mayRepeat: Bool = false) async throws -> String {
      var request = HTTPRequest(.get, url)
      request.options.mayRepeat = mayRepeat
      return String(decoding: try await transport.send(request).body.collect(), as: UTF8.self)
    }

    private var openCount: Int {
      get async { await transport.connections().values.reduce(0) { $0 + $1.open } }
    }

    @Test(.keepsConnections) func `closes an idle connection immediately when the server does`() async throws {
      let isTimeToClose = DispatchSemaphore(value: 0)
      let peer = try WirePeer { connection, _ in
        guard connection.readRequest() != nil else { return }
        connection.answer("one")
        isTimeToClose.wait()
      }
      #expect(try await get(peer.url()) == "one")
      #expect(await openCount == 1)
      isTimeToClose.signal()
      #expect(await eventually { await openCount == 0 }, "the connection is closed without another call")
    }

    @Test func `ignores an unsolicited response`() async throws {
      let isTimeToSpeak = DispatchSemaphore(value: 0)
      let peer = try WirePeer { connection, index in
        guard connection.readRequest() != nil else { return }
        connection.answer("\(index)")
        guard index == 0 else { return connection.waitForEnd() }
        isTimeToSpeak.wait()
        connection.answer("evil")
        connection.waitForEnd()
      }
      #expect(try await get(peer.url()) == "0")
      isTimeToSpeak.signal()
      #expect(await eventually { await openCount == 0 })
      #expect(try await get(peer.url()) == "1")
    }

    @Test func `ignores a second response in the same packet`() async throws {
      let peer = try WirePeer { connection, index in
        while let request = connection.readRequest() {
          let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
          let first = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst"
          if request.contains("/first") { connection.say(first + evil) } else { connection.answer("second") }
        }
      }
      for _ in 0..<50 {
        #expect(try await get(peer.url("first")) == "first")
        #expect(try await get(peer.url("second")) == "second")
      }
    }

    // libcurl passes the connection to the next request before it returns. It reads only the stated length, so a second
    // response has not been read yet.
    @Test func `a second response does not answer a request that waits for the connection`() async throws {
      let padding = String(repeating: "x", count: 100_000)
      let peer = try WirePeer { connection, _ in
        while let request = connection.readRequest() {
          let body = (request.split(separator: " ").dropFirst().first ?? "") + padding
          let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
          connection.say("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)\(evil)")
        }
      }
      var configuration = CurlTransport.Configuration()
      configuration.connectionsPerOrigin = 1
      let transport = try CurlTransport(configuration)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<50 {
          group.addTask {
            let body = try await transport.send(HTTPRequest(.get, peer.url("\(index)"))).body.collect()
            let text = String(decoding: body.prefix(10), as: UTF8.self)
            #expect(text.hasPrefix("/\(index)x"))
          }
        }
        try await group.waitForAll()
      }
    }

    // The connection ends just before a request uses it, in about half of the rounds.
    @Test(.keepsConnections)
    func `a request retried on a new connection does not affect later requests`() async throws {
      let doomed = Shared(-1)
      let peer = try WirePeer { connection, index in
        var byte: UInt8 = 0
        while doomed.withLock({ $0 }) != index {
          let count = recv(connection.descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
          if count == 0 { return }
          guard count > 0, connection.readRequest() != nil else { continue }
          connection.answer("\(index)")
        }
      }
      for _ in 0..<300 {
        let index = try #require(Int(try await get(peer.url(), mayRepeat: true)))
        doomed.withLock { $0 = index }
        _ = try? await get(peer.url())  // fails if it is written before the connection ends
        let next = try await get(peer.url(), mayRepeat: true)  // may use a closed connection
        #expect(try await get(peer.url(), mayRepeat: true) == next)
      }
    }

    private var descriptorCount: Int {
      get throws { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
    }

    @Test func `a burst of connections closed by the server leaks no descriptors`() async throws {
      let isTimeToAnswer = DispatchSemaphore(value: 0)
      let peer = try WirePeer { connection, _ in
        guard connection.readRequest() != nil else { return }
        isTimeToAnswer.wait()
        connection.answer("x")
      }
      let before = try descriptorCount
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<600 { group.addTask { _ = try await get(peer.url()) } }
        #expect(await eventually(within: .seconds(30)) { await openCount == 600 })
        for _ in 0..<600 { isTimeToAnswer.signal() }
        try await group.waitForAll()
      }
      #expect(await eventually { await openCount == 0 })
      // Concurrent tests may have opened descriptors.
      #expect(try await eventually { try descriptorCount < before + 100 })
    }

    @Test(.keepsConnections) func `retries once on a new connection if the pooled connection is stale`() async throws {
      let isTimeToAnswer = DispatchSemaphore(value: 0)
      let peer = try WirePeer { connection, index in
        guard connection.readRequest() != nil else { return }
        if index < 8 { isTimeToAnswer.wait() }
        connection.answer("x")
        // Reads the second request without answering it, like a server that is shutting down.
        _ = connection.readRequest()
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<8 { group.addTask { _ = try await get(peer.url()) } }
        #expect(await eventually { await openCount == 8 })
        for _ in 0..<8 { isTimeToAnswer.signal() }
        try await group.waitForAll()
      }
      // Seven more stale connections are idle, but none of them is used.
      #expect(try await get(peer.url(), mayRepeat: true) == "x")
      await #expect(throws: TaskError.self) { try await get(peer.url()) }
    }

    @Test func `closes an idle connection after its lifetime`() async throws {
      var configuration = CurlTransport.Configuration()
      configuration.idleLifetime = .milliseconds(100)
      let transport = try CurlTransport(configuration)
      let isClosed = DispatchSemaphore(value: 0)
      let peer = try WirePeer { connection, _ in
        guard connection.readRequest() != nil else { return }
        connection.answer("x")
        connection.waitForEnd()
        isClosed.signal()
      }
      _ = try await transport.send(HTTPRequest(.get, peer.url())).body.collect()
      let start = ContinuousClock.now
      #expect(await eventually { await transport.connections().isEmpty })
      // The limit is below the peer's timeout of 20 s and the default lifetime of 50 s.
      #expect(ContinuousClock.now - start < .seconds(15))
      #expect(isClosed.wait(timeout: .now() + 10) == .success)
    }

    // libcurl buffers the frame that resets a stream until it has something else to send or read.
    @Test(.keepsConnections)
    func `a stream that times out closes its HTTP/2 connection immediately`() async throws {
      let isClosed = DispatchSemaphore(value: 0)
      let peer = try WirePeer { connection, _ in
        connection.say("\0\0\0\u{4}\0\0\0\0\0")  // SETTINGS
        connection.waitForEnd()
        isClosed.signal()
      }
      var configuration = CurlTransport.Configuration()
      configuration.version = .http2PriorKnowledge
      configuration.idleLifetime = .seconds(3600)
      let transport = try CurlTransport(configuration)
      var options = TransferOptions()
      options.timeouts = Timeouts(firstByte: .milliseconds(400))
      let error = await #expect(throws: TaskError.self) {
        try await transport.send(HTTPRequest(.get, peer.url(), options: options))
      }
      #expect(error?.timer == .firstByte)
      #expect(await eventually { isClosed.wait(timeout: .now()) == .success })
    }

    @Test func `a slow reader keeps its connection open`() async throws {
      let peer = try WirePeer { connection, _ in
        guard connection.readRequest() != nil else { return }
        connection.answer(String(repeating: "x", count: 4 << 20))
        connection.waitForEnd()
      }
      let body = try await transport.send(HTTPRequest(.get, peer.url())).body
      var count = try await body.next()?.count ?? 0
      let other = try WirePeer.saying("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
      #expect(try await get(other.url()).isEmpty)
      while let chunk = try await body.next() { count += chunk.count }
      #expect(count == 4 << 20)
    }
  }
#endif
