#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// The transport's conformance over the framing of servers and proxies that others wrote.
  ///
  /// A mock server behind them scripts the answers. What they hide from it is listed, check by check.
  @Suite(
    .enabled(
      if: ["nginx", "squid"].allSatisfy(LocalServer.isExpected),
      "nginx or squid is not installed"), .timeLimit(.minutes(10)))
  struct RouteConformanceTests {
    /// A route by its name.
    enum Path: String, CaseIterable, CustomTestStringConvertible {
      case plainNginx = "nginx over HTTP/1.1"
      case squid = "squid"

      var testDescription: String { rawValue }

      /// What reaches the other end as it was sent.
      var preserves: ConformanceRoute.Traits {
        let all = ConformanceRoute.Traits.all.subtracting(.connections)
        return switch self {
        case .plainNginx: all.subtracting([.requestFraming, .expectations, .trailers])
        case .squid: all.subtracting([.methods, .requestFraming, .refusals, .trailers])
        }
      }

      var conformance: TransportConformance {
        TransportConformance(over: ConformanceRoute(preserves: preserves) { try await open(to: $0) })
      }

      private func open(to mock: MockServer) async throws -> ConformanceRoute.End {
        var configuration = CurlTransport.Configuration()
        configuration.idleLifetime = .seconds(3600)  // what is given up ends by itself, not with its connection's time
        switch self {
        case .plainNginx:
          let gateway = try await Gateway.nginx(to: mock, isSecure: false)
          return .init(transport: try CurlTransport(configuration), origin: gateway.url, intermediary: gateway)
        case .squid:
          let squid = try await Squid()
          configuration.proxies = .all(squid.proxy)
          return .init(
            transport: try CurlTransport(configuration), origin: try Self.named(mock.url), intermediary: squid)
        }
      }

      /// The same origin by a name that squid can look up: what goes to this machine by its own goes through no proxy.
      private static func named(_ url: URL) throws -> URL {
        guard let url = URL(string: "\(url.scheme ?? "")://shop.test:\(url.port ?? 0)") else {
          throw LocalServer.Failure(reason: "no URL")
        }
        return url
      }
    }

    /// Names of checks that need the transport's own connection.
    private static let ofConnections = [
      "a connection that closes without an answer is lost, and the request perhaps read",
      "an answer that is no HTTP is a bad response",
      "an interim response is not taken for the response when nothing follows",
      "a connection that was said to close is not used again", "a POST is sent once when its pooled connection dies",
      "a GET is sent once when its pooled connection dies, unless it may be repeated",
      "a GET that may be repeated survives the death of its pooled connection",
    ]
    private static let asksFirst = "a body that asks first is sent after the server's consent"
    private static let trailers = "fields after the body are there at its end"
    private static let unknownLength = "a stream of unknown length is sent in chunks"
    @Test(arguments: [
      (Path.plainNginx, [unknownLength, asksFirst, trailers]),
      (
        .squid,
        [
          "any method is sent as it is", unknownLength, "a refusal is the answer to a body that asks first", trailers,
        ]
      ),
    ])
    func `what a route hides is left out, and nothing else`(path: Path, hidden: [String]) {
      #expect(Set(path.conformance.omissions) == Set(Self.ofConnections + hidden))
    }

    @Test(arguments: Path.plainNginx.conformance.cases)
    func `nginx over HTTP/1.1`(_ check: TransportConformance.Case) async throws { try await check.run() }

    @Test(arguments: Path.squid.conformance.cases)
    func `a proxy of squid's`(_ check: TransportConformance.Case) async throws { try await check.run() }
  }
#endif
