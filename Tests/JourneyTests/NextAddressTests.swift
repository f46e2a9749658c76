#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// Host names with several addresses, of which only the last has a server. The other addresses in 127.0.0.0/8 refuse
  /// connections, and connecting to 255.255.255.255 fails immediately.
  @Suite(.balancedEvents, .timeLimit(.minutes(1))) struct NextAddressTests {
    private let mock: MockServer
    private let url: URL

    init() throws {
      mock = try MockServer()
      mock.route("/*", answer: .text("found"))
      url = try #require(URL(string: "http://shop.test:\(mock.url.port ?? 0)/a"))
    }

    /// Returns the outcome of an exchange. Only an exchange that hangs reaches the timeout.
    private func outcome(_ addresses: String, connections: Int = 0) async throws -> Result<Data, any Error> {
      var configuration = CurlTransport.Configuration()
      configuration.addresses = ["shop.test:\(url.port ?? 0)": addresses]
      configuration.connectionsPerOrigin = connections
      let transport = try CurlTransport(configuration)
      var request = HTTPRequest(.get, url)
      request.options.timeouts = Timeouts(connect: .seconds(20))
      do {
        return .success(try await transport.send(request).body.collect())
      } catch {
        return .failure(error)
      }
    }

    @Test(
      arguments: [
        "127.0.0.9,127.0.0.1", "127.0.0.9,127.0.0.8,127.0.0.7,127.0.0.1", "255.255.255.255,127.0.0.1",
        "255.255.255.255,127.0.0.9,255.255.255.255,127.0.0.1", "[::1],127.0.0.9,127.0.0.1", "127.0.0.9,[::1],127.0.0.1",
      ], [0, 1])
    func `tries the next address immediately if one fails`(addresses: String, connections: Int) async throws {
      #expect(try await outcome(addresses, connections: connections).get() == Data("found".utf8))
      #expect(mock.connectionCount == 1)
    }

    @Test(arguments: ["127.0.0.9,127.0.0.8,127.0.0.7", "255.255.255.255,255.255.255.255", "127.0.0.9,[::1],127.0.0.8"])
    func `fails immediately if all addresses fail`(addresses: String) async throws {
      let outcome = try await outcome(addresses)
      let error = try #require(throws: TaskError.self) { try outcome.get() }
      #expect(error.code == .cannotConnect && error.wasNotSent, "\(error)")
    }
  }
#endif
