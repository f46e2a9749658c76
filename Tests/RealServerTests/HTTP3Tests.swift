#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// HTTP/3 with caddy, and the fallback to TCP.
  @Suite(
    .enabled(if: CurlTransport.offersHTTP3, "the installed libcurl does not support HTTP/3"),
    .enabled(if: Caddy.isExpected, "caddy or openssl is not installed"), .timeLimit(.minutes(3)))
  struct HTTP3Tests {
    private static let large = Data((0..<(8 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 131) })
    private let transport: CurlTransport

    init() throws {
      var configuration = CurlTransport.Configuration()
      configuration.tls.authorities = .pem(try Certificates.shared().authority)
      configuration.version = .http3
      transport = try CurlTransport(configuration)
    }

    private func start(_ protocols: String) async throws -> Caddy {
      try await Caddy(
        files: ["root/hello": Data("hello\n".utf8), "root/large": Self.large], protocols: protocols
      ) { folder in
        """
        root * \(folder)/root
          file_server
        """
      }
    }

    private func get(_ path: String, from caddy: Caddy) async throws -> (response: HTTPResponse, body: Data) {
      let response = try await transport.send(HTTPRequest(.get, caddy.url.appendingPathComponent(path)))
      return (response, try await response.body.collect())
    }

    @Test func `responses arrive over HTTP/3 on one connection`() async throws {
      let caddy = try await start("h1 h2 h3")
      let first = try await get("hello", from: caddy)
      #expect(first.response.version == .http3 && first.body == Data("hello\n".utf8))
      #expect(!first.response.isConnectionReused)
      let second = try await get("hello", from: caddy)
      #expect(second.response.version == .http3 && second.body == Data("hello\n".utf8))
      #expect(await transport.connections().values.allSatisfy { $0.open <= 2 })
    }

    @Test func `a large file arrives intact despite abandoned streams`() async throws {
      let caddy = try await start("h1 h2 h3")
      for _ in 0..<10 {
        let response = try await transport.send(HTTPRequest(.get, caddy.url.appendingPathComponent("large")))
        #expect(response.version == .http3)
        for try await _ in response.body { break }
      }
      let whole = try await get("large", from: caddy)
      #expect(whole.response.version == .http3 && whole.body == Self.large)
    }

    @Test func `200 HTTP/3 tasks share a few connections`() async throws {
      let caddy = try await start("h1 h2 h3")
      let server = Server(Remote(caddy.url.absoluteString), transport: transport)
      _ = try await get("hello", from: caddy)
      let tasks = (0..<200).map { _ in URLTask(caddy.url.appendingPathComponent("hello")).on(server) }
      let count = try await server.manager.withResults(of: tasks, limit: 50) { results in
        await results.reduce(0) { $0 + ((try? $1.result.get())?.count == 6 ? 1 : 0) }
      }
      #expect(count == 200)
      #expect(await transport.connections().values.allSatisfy { $0.open <= 3 })
    }

    @Test func `falls back to HTTP/2 if the server does not support HTTP/3`() async throws {
      let caddy = try await start("h1 h2")
      let answer = try await get("hello", from: caddy)
      #expect(answer.response.version == .http2 && answer.body == Data("hello\n".utf8))
    }

    @Test func `falls back to HTTP/2 if the server does not answer over UDP`() async throws {
      let caddy = try await start("h1 h2")
      let sink = try DatagramSink(port: UInt16(try #require(caddy.url.port)))
      let answer = try await get("hello", from: caddy)
      #expect(answer.response.version == .http2 && answer.body == Data("hello\n".utf8))
      #expect(sink.hasReceived, "the transport tried QUIC")
    }
  }

  /// A socket that receives datagrams but never answers.
  private final class DatagramSink: Sendable {
    private let descriptor: Int32

    init(port: UInt16) throws {
      descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      let isBound = withUnsafeBytes(of: &address) { bytes in
        bind(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count)) == 0
      }
      guard isBound else { throw LocalServer.Failure(reason: "UDP port \(port) is not free") }
    }

    deinit { close(descriptor) }

    /// Whether a datagram has arrived.
    var hasReceived: Bool {
      var byte: UInt8 = 0
      return recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) > 0
    }
  }
#endif
