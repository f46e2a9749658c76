#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  @Suite(
    .enabled(if: Nginx.isExpected && Certificates.isExpected, "nginx or openssl is not installed"),
    .timeLimit(.minutes(3)))
  struct AddressPolicyTests {
    @Test(.speaksHTTP2, .breaksSharedConnections)
    func `does not reuse a shared HTTP/2 connection if the policy forbids its address`() async throws {
      let certificates = try Certificates.shared()
      let nginx = try await Nginx(
        files: ["hello": Data("hello\n".utf8), "large": Data(count: 8 << 20)],
        security: .init(certificates: certificates))
      var configuration = CurlTransport.Configuration()
      configuration.tls.authorities = .pem(certificates.authority)
      let server = Server(Remote(nginx.url), transport: try CurlTransport(configuration))
      // Open a stream on the connection and leave it unread.
      let large = try await URLTask(nginx.url.appendingPathComponent("large")).on(server).stream()
      #expect(large.version == .http2)
      // Streamed calls have their own connections, but these requests share the first stream's connection.
      let hello = URLTask(nginx.url.appendingPathComponent("hello")).on(server)
      let other = try await hello.stream()
      #expect(other.isConnectionReused)
      #expect(try await other.body.collect() == Data("hello\n".utf8))
      for _ in 0..<5 {
        let error = await #expect(throws: TaskError.self) { try await hello.addresses(.publicOnly).stream() }
        #expect(error?.code == .forbiddenAddress && error?.wasNotSent == true, "\(String(describing: error))")
      }
      let last = try await hello.stream()
      #expect(last.isConnectionReused, "other requests still use the connection")
      #expect(try await last.body.collect() == Data("hello\n".utf8))
      #expect(try await large.body.collect().count == 8 << 20, "the other stream is not affected")
      withExtendedLifetime(nginx) {}
    }
  }
#endif
