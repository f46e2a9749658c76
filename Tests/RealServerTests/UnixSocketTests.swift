#if os(Linux)
  import Errand
  import Foundation
  import Testing

  @Suite(.enabled(if: Nginx.isExpected, "nginx is not installed"), .timeLimit(.minutes(3)))
  struct UnixSocketTests {
    private func start() async throws -> (Nginx, CurlTransport) {
      let nginx = try await Nginx(files: ["hello": Data("hello\n".utf8)])
      return (nginx, try CurlTransport(unixSocket: nginx.socketPath))
    }

    @Test func `requests to any host use the socket and reuse its connection`() async throws {
      let (nginx, transport) = try await start()
      let server = Server("http://localhost", transport: transport)
      let url = try #require(URL(string: "http://localhost/echo/host"))
      let first = try await URLTask(url).on(server).response()
      let second = try await URLTask(url).on(server).response()
      // nginx returns its address and the requested host.
      #expect(String(decoding: first.payload, as: UTF8.self) == "unix:\(nginx.socketPath) localhost\n")
      #expect(!first.response.isConnectionReused && second.response.isConnectionReused == keepsConnections)
      #expect(await transport.connections().values.map(\.open) == (keepsConnections ? [1] : []))
      withExtendedLifetime(nginx) {}
    }

    @Test func `uploads, downloads and concurrent requests work over the socket`() async throws {
      let (nginx, transport) = try await start()
      let hello = try #require(URL(string: "http://localhost/hello"))
      let swallow = try #require(URL(string: "http://localhost/swallow"))
      let up = try await transport.send(HTTPRequest(.post, swallow, body: .bytes(Data(count: 3 << 20))))
      #expect(up.status == .noContent)
      try await withThrowingTaskGroup { group in
        for _ in 0..<100 {
          group.addTask {
            let body = try await transport.send(HTTPRequest(.get, hello)).body.collect()
            #expect(body == Data("hello\n".utf8))
          }
        }
        try await group.waitForAll()
      }
      withExtendedLifetime(nginx) {}
    }

    @Test func `a Unix socket ignores the environment's proxies, even invalid ones`() async throws {
      let nginx = try await Nginx(files: ["hello": Data("hello\n".utf8)])
      for address in ["http://127.0.0.1:1", "https://127.0.0.1:1", "no address"] {
        var configuration = CurlTransport.Configuration()
        configuration.unixSocket = nginx.socketPath
        configuration.proxies = .environment(["http_proxy": address])
        let url = try #require(URL(string: "http://shop.test/hello"))
        let response = try await CurlTransport(configuration).send(HTTPRequest(.get, url))
        #expect(try await response.body.collect() == Data("hello\n".utf8))
      }
    }

    @Test func `a missing socket throws an error marked as not sent`() async throws {
      var configuration = CurlTransport.Configuration()
      configuration.unixSocket = "/nowhere/at/all.socket"
      let transport = try CurlTransport(configuration)
      let url = try #require(URL(string: "http://localhost/hello"))
      let error = await #expect(throws: TaskError.self) {
        try await transport.send(HTTPRequest(.post, url, body: .text("x")))
      }
      #expect(error?.code == .cannotConnect && error?.wasNotSent == true, "\(String(describing: error))")
    }
  }
#endif
