#if os(Linux)
  import Dispatch
  import Errand
  import ErrandTesting
  import Foundation
  import Glibc
  import Testing

  @Suite(.balancedEvents, .timeLimit(.minutes(1))) struct GaugesTests {
    /// Returns a server that keeps idle connections for `idleLifetime`.
    private func server(_ peer: WirePeer, idleLifetime: Duration) throws -> Server {
      var configuration = CurlTransport.Configuration()
      configuration.idleLifetime = idleLifetime
      return Server(Remote(peer.url()), transport: try CurlTransport(configuration), environment: [:])
    }

    @Test(arguments: [Duration.seconds(3600), .milliseconds(50)])
    func `a connection is busy during a call and then idle until its lifetime ends`(
      lifetime: Duration
    ) async throws {
      let isTimeToAnswer = DispatchSemaphore(value: 0)
      let peer = try WirePeer { connection, _ in
        guard connection.readRequest() != nil else { return }
        isTimeToAnswer.wait()
        connection.answer("one")
        connection.waitForEnd()
      }
      let server = try server(peer, idleLifetime: lifetime)
      #expect(await server.gauges().hosts.isEmpty)
      let call = Task { try await PlainTask().on(server).run() }
      #expect(await eventually { await server.gauges().connections.busy == 1 })
      var gauges = await server.gauges()
      #expect(gauges.calls == 1 && gauges.running == 1 && gauges.connections.open == 1 && gauges.connections.idle == 0)
      let origin = try #require(Origin(peer.url()))
      #expect(gauges.hosts[origin]?.connections.busy == 1 && gauges.hosts[origin]?.running == 1)
      isTimeToAnswer.signal()
      _ = try await call.value
      let isKept = lifetime > .seconds(1) && keepsConnections
      #expect(await eventually { await server.gauges().connections.open == (isKept ? 1 : 0) })
      gauges = await server.gauges()
      #expect(gauges.calls == 0 && gauges.running == 0 && gauges.connections.busy == 0)
      #expect(gauges.connections.idle == (isKept ? 1 : 0) && gauges.hosts.count == (isKept ? 1 : 0))
    }

    /// A listener with a full backlog, to which connections are never established.
    private final class FullListener {
      private let descriptors: [Int32]
      let url: URL

      init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutableBytes(of: &address) { bytes in
          let pointer = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
          bind(listener, pointer, size)
          listen(listener, 0)
          getsockname(listener, pointer, &size)
        }
        let fillers = (0..<4).map { _ in socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0) }
        for filler in fillers {
          withUnsafeBytes(of: &address) { bytes in
            _ = connect(filler, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), size)
          }
        }
        descriptors = [listener] + fillers
        url = try #require(URL(string: "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/plain"))
      }

      deinit { for descriptor in descriptors { close(descriptor) } }
    }

    @Test func `a connection being established is neither busy nor idle`() async throws {
      let listener = try FullListener()
      let server = Server(Remote(listener.url), transport: try CurlTransport(), environment: [:])
      let call = Task { try await PlainTask().on(server).run() }
      #expect(await eventually { await server.gauges().connections.connecting == 1 })
      let counts = await server.gauges().connections
      #expect(counts.open == 1 && counts.busy == 0 && counts.idle == 0)
      call.cancel()
      _ = try? await call.value
    }

    @Test(arguments: [true, false])
    func `does not count a connection abandoned while connecting`(isCancelled: Bool) async throws {
      let listener = try FullListener()
      let server = Server(Remote(listener.url), transport: try CurlTransport(), environment: [:])
      // A call that will be cancelled must not time out first.
      let timeouts = Timeouts(connect: isCancelled ? .seconds(60) : .milliseconds(100))
      for _ in 0..<3 {
        let call = Task { try await PlainTask().on(server).timeouts(timeouts).retry(.never).run() }
        if isCancelled {
          #expect(await eventually { await server.gauges().connections.connecting == 1 })
          call.cancel()
        }
        await #expect(throws: (any Error).self) { try await call.value }
        try #require(await server.gauges().connections == ConnectionCounts())
      }
    }

    @Test(.keepsConnections) func `a server's default transport counts its connections`() async throws {
      let mock = try MockServer()
      mock.route("/plain") { _ in .text("ok") }
      let server = Server(Remote(mock.url), environment: [:])
      _ = try await PlainTask().on(server).run()
      #expect(await server.gauges().connections.open == 1)
    }
  }
#endif
