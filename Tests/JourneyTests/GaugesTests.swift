#if os(Linux)
  import Dispatch
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  @Suite(.balancedEvents, .timeLimit(.minutes(10))) struct GaugesTests {
    /// A server whose connections are kept for that long when they are idle.
    private func server(_ peer: WirePeer, idleLifetime: Duration) throws -> Server {
      var configuration = CurlTransport.Configuration()
      configuration.idleLifetime = idleLifetime
      return Server(remote: Remote(peer.url()), transport: try CurlTransport(configuration), environment: [:])
    }

    @Test(arguments: [Duration.seconds(3600), .milliseconds(50)])
    func `a connection is busy while a call runs, and idle after it until its lifetime ends`(
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

    @Test(.keepsConnections) func `the transport that a server has by itself counts its connections`() async throws {
      let mock = try MockServer()
      mock.route("/plain") { _ in .text("ok") }
      let server = Server(remote: Remote(mock.url), environment: [:])
      _ = try await PlainTask().on(server).run()
      #expect(await server.gauges().connections.open == 1)
    }
  }
#endif
