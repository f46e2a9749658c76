#if os(Linux)
  import ErrandTesting
  import Foundation
  import Testing

  @testable import Errand

  @Suite struct PlatformTransportTests {
    @Test func `libcurl is what Linux gets, without a complaint`() throws {
      let complaints = Shared<[String]>([])
      let transport = PlatformTransport.best(complaint: { complaint in complaints.withLock { $0.append(complaint) } }) {
        StubTransport { .status(.ok, for: $0) }
      }
      #expect(transport.name == "curl")
      #expect(complaints.withLock { $0.isEmpty })
    }

    @Test func `a server that is given no transport sends by libcurl`() async throws {
      let mock = try MockServer()
      mock.route("/x", answer: .text("x"))
      let server = Server(remote: Remote(mock.url), environment: [:])
      #expect((server.transport as? PlatformTransport)?.name == "curl")
      let response = try await URLTask(mock.url.appendingPathComponent("x")).on(server).response()
      // URLSession on Linux tells of no address.
      #expect(response.metrics.timings?.remoteAddress == "127.0.0.1")
    }

    @Test func `without libcurl it is URLSession, and the complaint says why`() {
      let complaints = Shared<[String]>([])
      let transport = PlatformTransport.best(complaint: { complaint in complaints.withLock { $0.append(complaint) } }) {
        throw TaskError(.transportUnavailable, "no libcurl.so.4", phase: .preparing)
      }
      #expect(transport.name == "URLSession")
      #expect(complaints.withLock { $0.count } == 1)
      #expect(complaints.withLock { $0.first }?.contains("no libcurl.so.4") == true)
    }
  }
#endif
