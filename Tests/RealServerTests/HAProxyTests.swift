#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// HAProxy, which closes connections that are idle for longer than 100 ms.
  @Suite(.enabled(if: LocalServer.isExpected("haproxy"), "haproxy is not installed"), .timeLimit(.minutes(1)))
  struct HAProxyTests {
    private let haproxy: LocalServer
    private let server: Server

    init() async throws {
      haproxy = try await LocalServer("haproxy") { port, _ in
        """
        defaults
          mode http
          timeout client 5s
          timeout connect 1s
          timeout server 1s
          timeout http-keep-alive 100ms
        frontend front
          bind 127.0.0.1:\(port)
          http-request return status 200 content-type text/plain string "ok"

        """
      } arguments: {
        ["-db", "-f", "\($0)/configuration"]
      }
      var configuration = ServerConfiguration()
      configuration.retryPolicy = .never
      server = Server(
        Remote(try haproxy.url("http")), configuration: configuration, transport: try CurlTransport(),
        asDefault: false)
    }

    @Test(arguments: [10, 70, 90, 95, 100, 105, 110, 200])
    func `a GET succeeds even if HAProxy closes the idle connection`(milliseconds: Int) async throws {
      for _ in 1...4 {
        #expect(try await Endpoint<Void, String>.get("a").on(server).send() == "ok")
        try await Task.sleep(for: .milliseconds(milliseconds))
      }
    }

    @Test func `a POST succeeds after HAProxy has closed the idle connection`() async throws {
      for _ in 1...4 {
        let task = Endpoint<HTTPBody, String>.post("a", body: .text("some text"))
        #expect(try await task.on(server).send() == "ok")
        try await Task.sleep(for: .milliseconds(250))
      }
    }
  }
#endif
