#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// TLS connections that the server closes between two requests.
  @Suite(
    .enabled(if: Nginx.isExpected && Certificates.isExpected, "nginx or openssl is not installed"),
    .timeLimit(.minutes(3)))
  struct IdleSecureConnectionTests {
    @Test(.keepsClosedConnections, arguments: [HTTPVersionPreference.http1, .automatic])
    func `closes idle connections immediately when the server does and sends the next POST`(
      version: HTTPVersionPreference
    ) async throws {
      let certificates = try Certificates.shared()
      let nginx = try await Nginx(
        files: ["hello": Data("hello".utf8)], security: Nginx.Security(certificates: certificates, keepAlive: 1))
      var configuration = CurlTransport.Configuration()
      configuration.tls.authorities = .pem(certificates.authority)
      configuration.version = version
      configuration.idleLifetime = .seconds(3600)  // so that the lifetime doesn't close connections
      let transport = try CurlTransport(configuration)
      let request = HTTPRequest(.get, nginx.url.appendingPathComponent("hello"))
      let response = try await transport.send(request)
      #expect(try await response.body.collect() == Data("hello".utf8))
      #expect(await eventually { await transport.connections().isEmpty }, "no other call is needed")
      let post = HTTPRequest(.post, nginx.url.appendingPathComponent("swallow"), body: .text("x"))
      #expect(try await transport.send(post).status == 204)
      withExtendedLifetime(nginx) {}
    }
  }
#endif
