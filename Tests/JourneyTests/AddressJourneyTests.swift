#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// Address policies on real sockets. Each blocked target is a server that counts its connections, because the kernel
  /// completes a connection before the server accepts it.
  @Suite(.balancedEvents, .timeLimit(.minutes(3))) struct AddressJourneyTests {
    private let mock: MockServer
    private var port: Int { mock.url.port ?? 0 }

    init() throws {
      mock = try MockServer()
      mock.route("/*", answer: .text("inside"))
    }

    private func server(_ policy: AddressPolicy, _ configure: (inout CurlTransport.Configuration) -> Void = { _ in })
      throws
      -> Server
    {
      var transport = CurlTransport.Configuration()
      configure(&transport)
      var configuration = ServerConfiguration()
      configuration.log = .discard
      configuration.addressPolicy = policy
      configuration.insecureHosts = [
        "shop.test", "93.184.215.14", "10.0.0.1", "0.0.0.0", "[::]", "[64:ff9b::7f00:1]", "[::ffff:127.0.0.1]",
      ]
      return Server(
        Remote(mock.url), configuration: configuration, transport: try CurlTransport(transport))
    }

    private func url(_ host: String) throws -> URL { try #require(URL(string: "http://\(host):\(port)/a")) }

    private func error(_ task: some ServerTask) async -> TaskError? {
      await #expect(throws: TaskError.self) { try await task.run() }
    }

    @Test(arguments: [
      "127.0.0.1", "0x7f.1", "2130706433", "0177.1", "127.1", "0", "localhost", "LOCALHOST.", "a.localhost", "[::1]",
      "[::]",
      "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "shop.test", "127.0.0.2",
    ])
    func `blocks every spelling of a host that resolves to this machine`(host: String) async throws {
      let server = try server(.publicOnly) {
        $0.addresses = ["shop.test:\(port)": "127.0.0.1", "a.localhost:\(port)": "127.0.0.1"]
      }
      await server.update { $0.waitsForConnectivity = true }
      let error = try #require(await error(URLTask(url(host)).on(server)))
      #expect(error.code == .forbiddenAddress && error.wasNotSent && error.attempts.count == 1, "\(error)")
      #expect(error.reason.hasPrefix("addressPolicy does not allow "), "\(error)")
      #expect(mock.connectionCount == 0)
    }

    @Test func `a policy can be set on the server, the task or the call`() async throws {
      let strict = try server(.publicOnly)
      #expect(try await URLTask(url("127.0.0.1")).addresses(.any).on(strict).run().status == .ok)
      let open = try server(.any)
      #expect(await error(URLTask(try url("127.0.0.1")).addresses(.publicOnly).on(open))?.code == .forbiddenAddress)
      #expect(mock.connectionCount == 1)
    }

    @Test func `the closure receives the address, its port and the origin`() async throws {
      let seen = Shared<[String]>([])
      let policy = AddressPolicy.allowing { address, origin in
        seen.withLock { $0.append("\(address) \(address.port) \(origin.host)") }
        return true
      }
      let server = try server(policy) { $0.addresses = ["shop.test:\(port)": "127.0.0.1"] }
      #expect(try await URLTask(url("shop.test")).on(server).downloadData() == Data("inside".utf8))
      #expect(Set(seen.withLock { $0 }) == ["127.0.0.1 \(port) shop.test"])
    }

    @Test func `connects to the first allowed address`() async throws {
      let policy = AddressPolicy.allowing { address, _ in address.description == "127.0.0.1" }
      let server = try server(policy) { $0.addresses = ["shop.test:\(port)": "127.0.0.9,10.0.0.1,127.0.0.1"] }
      let response = try await URLTask(url("shop.test")).on(server).response()
      #expect(response.status == .ok && response.metrics.timings?.remoteAddress == "127.0.0.1")
    }

    @Test func `a redirect does not bypass the policy`() async throws {
      let inner = try MockServer()
      inner.route("/*", answer: .text("secret"))
      mock.route(
        "/a", answer: .status(302, headers: ["Location": inner.url.appendingPathComponent("b").absoluteString]))
      let policy = AddressPolicy.allowing { [port] address, _ in address.port == port }
      let error = try #require(await error(URLTask(url("127.0.0.1")).on(server(policy))))
      #expect(error.code == .forbiddenAddress && !error.wasNotSent)
      #expect(mock.requestCount == 1 && inner.connectionCount == 0)
    }

    @Test(.keepsConnections) func `a call uses a pooled connection only if its policy allows the connection's address`()
      async throws
    {
      let server = try server(.any)
      let task = URLTask(try url("127.0.0.1")).on(server)
      try await task.run()
      for _ in 0..<3 {
        let error = try #require(await error(task.addresses(.publicOnly)))
        #expect(error.code == .forbiddenAddress && error.wasNotSent, "\(error)")
      }
      #expect(mock.requestCount == 1)
      #expect(try await task.run().status == .ok)
      #expect(mock.requestCount == 2 && mock.connectionCount <= 2)
    }

    @Test(.keepsConnections) func `evaluates the policy again before reusing a connection`()
      async throws
    {
      let isAllowed = Shared(true)
      let server = try server(.allowing { _, _ in isAllowed.withLock { $0 } })
      let task = URLTask(try url("127.0.0.1"), body: .text("once")).on(server)
      #expect(try await task.run().isConnectionReused == false)
      #expect(try await task.run().isConnectionReused, "a connection to an allowed address is reused")
      isAllowed.withLock { $0 = false }
      #expect(await error(task)?.wasNotSent == true)
      #expect(mock.requestCount == 2)
    }

    @Test func `a call without a policy succeeds after a call with a policy on the same handle`() async throws {
      let server = try server(.any)
      let task = URLTask(try url("127.0.0.1")).on(server)
      for _ in 0..<3 {
        _ = await error(task.addresses(.publicOnly))
        #expect(try await task.run().status == .ok)
      }
    }

    @Test func `the policy .publicOnly blocks a Unix socket`() async throws {
      let server = try server(.publicOnly) { $0.unixSocket = "/nowhere/at/all.socket" }
      let error = try #require(await error(URLTask(url("93.184.215.14")).on(server)))
      #expect(error.code == .forbiddenAddress && error.reason.contains("/nowhere/at/all.socket"), "\(error)")
      let other = try self.server(.any) { $0.unixSocket = "/nowhere/at/all.socket" }
      let lost = try #require(await self.error(URLTask(try url("93.184.215.14")).on(other).retry(.never)))
      #expect(lost.code == .cannotConnect)
      #expect(
        lost.reason.hasPrefix("can't connect to the Unix socket at /nowhere/at/all.socket: No such file"), "\(lost)")
    }

    @Test(arguments: [Proxy.Kind.http, .socks5])
    func `behind a proxy, checks IP literals and rejects host names`(kind: Proxy.Kind) async throws {
      let server = try server(.publicOnly) { $0.proxies = .all(Proxy(kind, host: "127.0.0.1", port: port)) }
      let named = try #require(await error(URLTask(url("shop.test")).on(server)))
      #expect(
        named.code == .forbiddenAddress
          && named.reason.contains("the proxy \(kind.rawValue)://127.0.0.1:\(port) resolves it"))
      let near = try #require(await error(URLTask(url("10.0.0.1")).on(server)))
      #expect(near.code == .forbiddenAddress && near.wasNotSent && near.reason.contains("RFC 1918"))
      #expect(mock.connectionCount == 0)
      guard kind == .http else { return }  // the mock does not support SOCKS
      _ = try? await URLTask(url("93.184.215.14")).retry(.never).on(server).run()
      #expect(mock.connectionCount == 1, "a request to a public IP literal goes to the proxy")
    }

    private struct Unknowing: Transport {
      func send(_ request: HTTPRequest) async throws -> HTTPResponse { .status(.ok, for: request) }
    }

    @Test func `does not send a request through a transport that can't enforce a policy`() async throws {
      let server = Server(Remote(mock.url), transport: Unknowing())
      let error = try #require(await error(URLTask(url("127.0.0.1")).addresses(.publicOnly).on(server)))
      #expect(error.code == .transportUnavailable && error.wasNotSent)
      #expect(try await URLTask(url("127.0.0.1")).on(server).run().status == .ok)
    }

    @Test func `blocks thousands of concurrent calls of every kind`() async throws {
      let hosts = ["127.0.0.1", "0x7f.1", "localhost", "[::1]", "shop.test", "[::ffff:127.0.0.1]", "0", "127.9.9.9"]
      let server = try server(.publicOnly) {
        $0.addresses = ["shop.test:\(port)": "10.0.0.1,127.0.0.1,169.254.169.254"]
      }
      let tasks = try (0..<4000).map { URLTask(try url(hosts[$0 % hosts.count])) }
      var refused = 0
      for await (_, result) in server.results(of: tasks, limit: 100) {
        if case .failure(let error as TaskError) = result, error.code == .forbiddenAddress { refused += 1 }
      }
      #expect(refused == 4000 && mock.connectionCount == 0)
      #expect(server.manager.runningCount == 0)
    }
  }
#endif
