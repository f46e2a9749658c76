#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// Proxies that refuse to open a tunnel.
  @Suite(.balancedEvents, .timeLimit(.minutes(1)))
  struct RefusingProxyTests {
    /// Returns a server that sends its requests through a proxy.
    private func server(
      by peer: WirePeer, scheme: String = "https", manager: TaskManager = TaskManager(),
      _ change: (inout Proxy) -> Void = { _ in }
    )
      throws -> Server
    {
      var proxy = Proxy(host: "127.0.0.1", port: Int(peer.port))
      change(&proxy)
      var transport = CurlTransport.Configuration()
      transport.proxies = .all(proxy)
      var configuration = ServerConfiguration()
      configuration.log = .discard
      configuration.insecureHosts = ["shop.test"]
      return Server(
        Remote("\(scheme)://shop.test"), configuration: configuration, transport: try CurlTransport(transport),
        manager: manager)
    }

    @Test(arguments: [
      (403, TaskError.Code.proxyRefused, 1), (404, .proxyRefused, 1), (503, .cannotConnect, 3),
      (429, .cannotConnect, 3),
    ])
    func `retries only transient proxy errors`(
      status: Int, code: TaskError.Code, count: Int
    )
      async throws
    {
      let asked = Shared(0)
      let peer = try WirePeer { connection, _ in
        while connection.readHead() != nil {
          asked.withLock { $0 += 1 }
          connection.say("HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n")
        }
      }
      let task = PlainTask().on(try server(by: peer)).retry(upTo: 2, after: .zero)
      let error = await #expect(throws: TaskError.self) { try await task.run() }
      #expect(error?.code == code && error?.wasNotSent == true, "\(error.map { "\($0)" } ?? "")")
      #expect(error?.reason.contains("\(status)") == true)
      #expect(asked.withLock { $0 } == count)
    }

    @Test(arguments: ["http", "https"])
    func `the error for a 407 contains the proxy's status and, without a tunnel, the realm`(
      scheme: String
    ) async throws {
      let peer = try WirePeer { connection, _ in
        while connection.readHead() != nil {
          connection.say(
            "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"office\"\r\nContent-Length: 0\r\n\r\n")
        }
      }
      let error = await #expect(throws: TaskError.self) {
        try await PlainTask().on(try server(by: peer, scheme: scheme)).retry(.never).run()
      }
      #expect(error?.code == .proxyAuthenticationRequired && error?.status == 407 && error?.wasNotSent == true)
      let realm = error?.headers.challenges(in: .proxyAuthenticate).first?["realm"]
      #expect(realm == (scheme == "http" ? "office" : nil))
      #expect(error?.reason.contains("Basic, realm 'office'") == (scheme == "http"), "\(error?.reason ?? "")")
    }

    @Test func `renews the proxy credentials up to twice for each request`() async throws {
      let (requests, renewals) = (Shared(0), Shared(0))
      let peer = try WirePeer { connection, _ in
        while connection.readHead() != nil {
          requests.withLock { $0 += 1 }
          connection.say(
            "HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n")
        }
      }
      let server = try server(by: peer, scheme: "http") { proxy in
        proxy.renewCredential = { _ in
          let number = renewals.withLock { count in
            count += 1
            return count
          }
          return number < 100 ? Credential(user: "somebody", password: "\(number)") : nil
        }
      }
      let error = await #expect(throws: TaskError.self) { try await PlainTask().on(server).run() }
      #expect(error?.code == .proxyAuthenticationRequired, "\(error.map { "\($0)" } ?? "")")
      #expect(renewals.withLock { $0 } == 2)
      #expect(requests.withLock { $0 } == 3)
    }

    @Test func `renewCredential can run a task even if there is only one slot`() async throws {
      let peer = try WirePeer { connection, _ in
        while let head = connection.readHead() {
          let status = head.contains("Proxy-Authorization") ? "403 No" : "407 Who"
          connection.say(
            "HTTP/1.1 \(status)\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n")
        }
      }
      let shop = try Shop(limits: ThrottleLimits(total: 1))
      let server = try server(by: peer, manager: shop.server.manager) { proxy in
        proxy.renewCredential = { refused in
          guard refused == nil, (try? await GetWidget().on(shop.server).download()) != nil else { return nil }
          return Credential(user: "somebody", password: "word")
        }
      }
      let error = await #expect(throws: TaskError.self) { try await PlainTask().on(server).retry(.never).run() }
      #expect(error?.code == .proxyRefused, "\(error.map { "\($0)" } ?? "")")
      #expect(await eventually { shop.isQuiet })
    }
  }
#endif
