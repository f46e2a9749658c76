#if os(Linux)
  import ErrandTesting
  import Foundation
  import Testing

  @testable import Errand

  @Suite(.timeLimit(.minutes(1))) struct PlatformTransportTests {
    @Test func `chooses libcurl on Linux`() throws {
      let transport = PlatformTransport.best { StubTransport { .status(.ok, for: $0) } }
      #expect(transport.name == "curl")
    }

    @Test func `a server without a transport uses libcurl`() async throws {
      let mock = try MockServer()
      mock.route("/x", answer: .text("x"))
      let server = Server(Remote(mock.url), environment: [:])
      #expect((server.transport as? PlatformTransport)?.name == "curl")
      let response = try await URLTask(mock.url.appendingPathComponent("x")).on(server).response()
      // Only a real transfer reports the address.
      #expect(response.metrics.timings?.remoteAddress == "127.0.0.1")
    }

    @Test func `without libcurl, every call fails without a retry, and the error says what to install`() async throws {
      let transport = PlatformTransport.best { () throws(TaskError) in
        throw CurlLoop.unavailable(CurlLibrary.missing)
      }
      let server = Server("https://shop.test", transport: transport, environment: [:])
      for _ in 1...2 {
        let error = await #expect(throws: TaskError.self) { try await PlainTask().on(server).run() }
        #expect(error?.code == .transportUnavailable)
        #expect(error?.attempts.count == 1)
        #expect(error?.description.contains("apt-get install libcurl4") == true)
        #expect(error?.description.contains("ErrandURLSession") == true)
      }
    }
  }
#endif
