#if os(Linux)
  import Errand
  import Foundation
  import Testing

  @Suite(
    .enabled(if: Nginx.isExpected && Certificates.isExpected, "nginx or openssl is not installed"),
    .timeLimit(.minutes(3)))
  struct HostSpellingTests {
    private let nginx: Nginx
    private let port: Int

    init() async throws {
      nginx = try await Nginx(security: .init(certificates: Certificates.shared()))
      port = try #require(nginx.url.port)
    }

    private func transport() throws -> CurlTransport {
      var configuration = CurlTransport.Configuration()
      configuration.tls.authorities = .pem(try Certificates.shared().authority)
      configuration.addresses = ["localhost:\(port)": "127.0.0.1", "Shop.TEST.:\(port)": "127.0.0.1"]
      return try CurlTransport(configuration)
    }

    private func request(_ host: String, pins: PublicKeyPins = [:]) throws -> HTTPRequest {
      let url = URL(string: "https://\(host):\(port)/echo/name", encodingInvalidCharacters: false)
      var request = HTTPRequest(.get, try #require(url))
      request.options.pins = pins
      return request
    }

    @Test(arguments: [
      "localhost", "LOCALHOST", "loc%61lhost", "localhost.", "%4Cocalhost", "127.0.0.1", "127.1", "2130706433",
    ])
    func `checks a host's pins in every spelling of the host`(host: String) async throws {
      let wrong = "sha256/\(String(repeating: "A", count: 43))="
      let spellings: [PublicKeyPins] = [
        ["localhost": [wrong], "127.0.0.1": [wrong]], ["LocalHost.": [wrong], "127.1": [wrong]],
      ]
      for pins in spellings {
        let error = await #expect(throws: TaskError.self) { try await transport().send(request(host, pins: pins)) }
        #expect(error?.code == .pinMismatch, "\(String(describing: error))")
      }
      let right = "sha256/\(try Certificates.shared().serverPin)"
      let others: PublicKeyPins = ["LocalHost.": [right], "127.1": [right]]
      #expect(try await transport().send(request(host, pins: others)).status == .ok)
    }

    @Test(arguments: ["SHOP.Test", "shop.test.", "s%68op.test", "user:word@SHOP.test"])
    func `sends the normalized host name in the handshake and in the request`(host: String) async throws {
      let transport = try transport()
      let body = try await transport.send(request(host)).body.collect()
      #expect(String(decoding: body, as: UTF8.self) == "shop.test:\(port) shop.test\n")
      #expect(Array(await transport.connections().keys) == (keepsConnections ? ["https://shop.test:\(port)"] : []))
    }

    @Test(
      .refusesLargeFields, arguments: [HTTPVersionPreference.http1, .automatic], [1, 40, 400])
    func `sends a head of the maximum size over TLS, as one or many headers`(
      version: HTTPVersionPreference, count: Int
    ) async throws {
      var configuration = CurlTransport.Configuration()
      configuration.tls.authorities = .pem(try Certificates.shared().authority)
      configuration.version = version
      var request = HTTPRequest(.get, nginx.url.appendingPathComponent("echo/name"))
      let head = request.method.rawValue.utf8.count + request.url.absoluteString.utf8.count
      let room = (HTTPRequest.maximumHeadSize - head) / count - HTTPHeaders.Field("X-1000", "").size
      for index in 0..<count {
        request.headers.add(String(repeating: "v", count: room), for: HTTPHeaderName("X-\(1000 + index)"))
      }
      let response = try await CurlTransport(configuration).send(request)
      #expect(
        response.status == .ok && response.version == (version == .http1 || !keepsConnections ? .http1_1 : .http2))
    }
  }
#endif
