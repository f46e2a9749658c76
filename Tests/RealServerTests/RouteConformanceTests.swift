#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// Runs the transport's conformance checks through third-party servers and proxies.
  ///
  /// A mock server behind each route provides the responses. Each route lists the properties that it hides. The 50 checks
  /// of a route take about 6 s, because some wait for a time limit.
  @Suite(
    .enabled(
      if: ["nginx", "squid", "caddy", "openssl"].allSatisfy(LocalServer.isExpected),
      "nginx, squid, caddy or openssl is not installed"), .timeLimit(.minutes(3)))
  struct RouteConformanceTests {
    /// The servers between the transport and the mock server.
    private struct Intermediaries: Sendable {
      let gateway: Gateway?
      let squid: Squid
    }

    /// A route from the transport to the mock server.
    enum Path: String, CaseIterable, CustomTestStringConvertible {
      case plainNginx = "nginx over HTTP/1.1"
      case squid = "squid"
      case nginx = "nginx over TLS and HTTP/2"
      case caddy = "caddy over TLS and HTTP/2"
      case caddyOverQUIC = "caddy over HTTP/3"
      case tunnel = "a squid tunnel to nginx over TLS and HTTP/2"

      var testDescription: String { rawValue }

      /// The properties that the route preserves from end to end.
      var preserves: ConformanceRoute.Traits {
        let all = ConformanceRoute.Traits.all.subtracting(.connections)
        return switch self {
        case .plainNginx: all.subtracting([.requestFraming, .expectations, .trailers])
        case .squid: all.subtracting([.methods, .requestFraming, .refusals, .trailers])
        // nginx delays a response head until the first bytes of its body arrive.
        case .nginx, .tunnel:
          all.subtracting([.expectations, .interimResponses, .promptHeads, .trailers]).subtracting(hiddenByHTTP1)
        // Caddy sorts headers and ends truncated bodies of unknown length as complete. After an early response it
        // resets the stream, sometimes in the TLS record that ends the response. libcurl before 8.1 loses the body of
        // such a response.
        case .caddy: all.subtracting([.fieldOrder, .expectations, .truncation, .earlyAnswers])
        // Caddy 2.6 does not forward bodies without a length. Trailers do not arrive, even with the curl tool.
        case .caddyOverQUIC:
          all.subtracting([.fieldOrder, .expectations, .truncation, .earlyAnswers, .requestFraming, .trailers])
        }
      }

      /// Additional properties that the route hides if the transport uses HTTP/1.1. nginx states the length of the
      /// request that it has read. Behind the tunnel, nginx may close the connection during an upload, which loses an
      /// early response.
      var hiddenByHTTP1: ConformanceRoute.Traits {
        if keepsConnections { return [] }
        return self == .tunnel ? [.requestFraming, .earlyAnswers] : self == .nginx ? [.requestFraming] : []
      }

      var conformance: TransportConformance {
        TransportConformance(over: ConformanceRoute(preserves: preserves) { try await open(to: $0) })
      }

      private func open(to mock: MockServer) async throws -> ConformanceRoute.End {
        var configuration = CurlTransport.Configuration()
        configuration.idleLifetime = .seconds(3600)  // so that the lifetime doesn't close abandoned connections
        if self == .caddyOverQUIC { configuration.version = .http3 }
        let gateway: Gateway? =
          switch self {
          case .plainNginx: try await .nginx(to: mock)
          case .nginx, .tunnel: try await .secureNginx(to: mock)
          case .caddy: try await .caddy(to: mock)
          case .caddyOverQUIC: try await .caddy(to: mock, protocols: "h1 h2 h3")
          case .squid: nil
          }
        if gateway?.url.scheme == "https" { configuration.tls.authorities = .pem(try Certificates.shared().authority) }
        let origin = gateway?.url ?? mock.url
        guard self == .squid || self == .tunnel else {
          return .init(transport: try CurlTransport(configuration), origin: origin, intermediary: gateway)
        }
        let squid = try await Squid()
        configuration.proxies = .all(squid.proxy)
        return .init(
          transport: try CurlTransport(configuration), origin: try Self.named(origin),
          intermediary: Intermediaries(gateway: gateway, squid: squid))
      }

      /// Replaces the host with a name that squid can resolve, because requests to this machine bypass proxies.
      private static func named(_ url: URL) throws -> URL {
        guard let url = URL(string: "\(url.scheme ?? "")://shop.test:\(url.port ?? 0)") else {
          throw LocalServer.Failure(reason: "can't replace the host of \(url)")
        }
        return url
      }
    }

    /// Checks that need a direct connection to the mock server.
    private static let ofConnections = [
      "reports a lost connection if the server closes it without a response",
      "reports a response that is not HTTP as a bad response",
      "does not return an interim response if nothing follows",
      "does not reuse a connection after Connection: close", "does not resend a POST if its pooled connection is stale",
      "does not resend a GET that must not be repeated if its pooled connection is stale",
      "resends a repeatable GET if its pooled connection is stale",
      "returns a 417 that closes the connection for a body with Expect: 100-continue",
      "sends trailer fields, or rejects the request before sending it",
    ]
    private static let asksFirst = "sends a body with Expect: 100-continue after the server's 100"
    private static let trailers = "delivers trailer fields at the end of the body"
    private static let unknownLength = "sends a stream of unknown length in chunks"
    private static let ofPromptHeads = [
      "returns the head before the body arrives", "reports the idle time limit",
      "closes the connection if cancelled while a body is stalled",
    ]

    @Test(arguments: [
      (Path.plainNginx, [unknownLength, asksFirst, trailers]),
      (
        .squid,
        [
          "sends any method unchanged", unknownLength, "returns the rejection of a body with Expect: 100-continue",
          trailers,
        ]
      ),
      (.nginx, ofPromptHeads + [asksFirst, trailers, "skips interim responses"]),
      (
        .caddy,
        [
          "sends header fields in order, including duplicates and empty fields",
          "delivers header fields in order, including duplicates",
          "returns a response that arrives before the body has been sent",
          asksFirst, "reports a body that is shorter than its length as truncated",
          "reports a body that ends before its last chunk as truncated",
        ]
      ),
      (
        .caddyOverQUIC,
        [
          "sends header fields in order, including duplicates and empty fields",
          "delivers header fields in order, including duplicates",
          "returns a response that arrives before the body has been sent",
          asksFirst, unknownLength, trailers, "reports a body that is shorter than its length as truncated",
          "reports a body that ends before its last chunk as truncated",
        ]
      ),
      (.tunnel, ofPromptHeads + [asksFirst, trailers, "skips interim responses"]),
    ])
    func `omits only the checks that need a property hidden by the route`(path: Path, hidden: [String]) {
      var hidden = Set(Self.ofConnections + hidden)
      if path.hiddenByHTTP1.contains(.requestFraming) { hidden.insert(Self.unknownLength) }
      if path.hiddenByHTTP1.contains(.earlyAnswers) {
        hidden.insert("returns a response that arrives before the body has been sent")
      }
      #expect(Set(path.conformance.omissions) == hidden)
    }

    @Test(.keepsNoConnections, arguments: Path.plainNginx.conformance.cases)
    func `passes the conformance checks over nginx with HTTP/1.1`(_ check: TransportConformance.Case)
      async throws
    {
      try await check.run()
    }

    @Test(.keepsNoConnections, arguments: Path.squid.conformance.cases)
    func `passes the conformance checks over a squid proxy`(_ check: TransportConformance.Case)
      async throws
    {
      try await check.run()
    }

    @Test(.readsAhead, .keepsNoConnections, arguments: Path.nginx.conformance.cases)
    func `passes the conformance checks over nginx with TLS and HTTP/2`(_ check: TransportConformance.Case)
      async throws
    {
      try await check.run()
    }

    @Test(.readsAhead, .keepsNoConnections, arguments: Path.caddy.conformance.cases)
    func `passes the conformance checks over caddy with TLS and HTTP/2`(_ check: TransportConformance.Case)
      async throws
    {
      try await check.run()
    }

    @Test(
      .enabled(if: CurlTransport.offersHTTP3, "the installed libcurl does not support HTTP/3"),
      arguments: Path.caddyOverQUIC.conformance.cases)
    func `passes the conformance checks over caddy with HTTP/3`(_ check: TransportConformance.Case)
      async throws
    {
      try await check.run()
    }

    @Test(.readsAhead, .keepsNoConnections, arguments: Path.tunnel.conformance.cases)
    func `passes the conformance checks over a squid tunnel`(_ check: TransportConformance.Case)
      async throws
    {
      try await check.run()
    }
  }
#endif
