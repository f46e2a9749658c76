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
      if: ["nginx", "squid", "caddy", "openssl"].allSatisfy(LocalServer.isExpected),
      "nginx, squid, caddy or openssl is not installed"), .timeLimit(.minutes(3)))
  struct RouteConformanceTests {
    /// What stands between the transport and the mock server, where it is two.
    private struct Intermediaries: Sendable {
      let gateway: Gateway?
      let squid: Squid
    }

    /// A route by its name.
    enum Path: String, CaseIterable, CustomTestStringConvertible {
      case plainNginx = "nginx over HTTP/1.1"
      case squid = "squid"
      case nginx = "nginx over TLS and HTTP/2"
      case caddy = "caddy over TLS and HTTP/2"
      case caddyOverQUIC = "caddy over HTTP/3"
      case tunnel = "a tunnel of squid's to nginx, over TLS and HTTP/2"

      var testDescription: String { rawValue }

      /// What reaches the other end as it was sent.
      var preserves: ConformanceRoute.Traits {
        let all = ConformanceRoute.Traits.all.subtracting(.connections)
        return switch self {
        case .plainNginx: all.subtracting([.requestFraming, .expectations, .trailers])
        case .squid: all.subtracting([.methods, .requestFraming, .refusals, .trailers])
        // Its heads wait for the first bytes of their bodies.
        case .nginx, .tunnel:
          all.subtracting([.expectations, .interimResponses, .promptHeads, .trailers]).subtracting(hiddenByHTTP1)
        // It sorts header fields, and ends a body of unknown length as if it were whole. Behind an early answer it resets the
        // stream, in one record of TLS with the answer's end now and then, of which libcurl before 8.1 loses the body.
        case .caddy: all.subtracting([.fieldOrder, .expectations, .truncation, .earlyAnswers])
        // Caddy 2.6 receives a body without a length, and does not pass it on. Trailers do not come, to curl's own tool neither.
        case .caddyOverQUIC:
          all.subtracting([.fieldOrder, .expectations, .truncation, .earlyAnswers, .requestFraming, .trailers])
        }
      }

      /// What these routes hide besides where the transport speaks HTTP/1.1 to them: nginx states the length of what it has
      /// read, and with the tunnel closes it on an upload that goes on, so that the answer before that may be lost.
      var hiddenByHTTP1: ConformanceRoute.Traits {
        if keepsConnections { return [] }
        return self == .tunnel ? [.requestFraming, .earlyAnswers] : self == .nginx ? [.requestFraming] : []
      }

      var conformance: TransportConformance {
        TransportConformance(over: ConformanceRoute(preserves: preserves) { try await open(to: $0) })
      }

      private func open(to mock: MockServer) async throws -> ConformanceRoute.End {
        var configuration = CurlTransport.Configuration()
        configuration.idleLifetime = .seconds(3600)  // what is given up ends by itself, not with its connection's time
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
      "a 417 that closes the connection is the answer to a body that asks first",
      "fields after a body are sent, or refused before anything is",
    ]
    private static let asksFirst = "a body that asks first is sent after the server's consent"
    private static let trailers = "fields after the body are there at its end"
    private static let unknownLength = "a stream of unknown length is sent in chunks"
    private static let ofPromptHeads = [
      "the head is there before the body", "the idle timer names itself",
      "cancelling in a body that stands still ends the exchange and its connection",
    ]

    @Test(arguments: [
      (Path.plainNginx, [unknownLength, asksFirst, trailers]),
      (
        .squid,
        [
          "any method is sent as it is", unknownLength, "a refusal is the answer to a body that asks first", trailers,
        ]
      ),
      (.nginx, ofPromptHeads + [asksFirst, trailers, "interim responses are passed over"]),
      (
        .caddy,
        [
          "header fields are sent in order, with duplicates and empty ones",
          "header fields come in order, with duplicates",
          "an answer before the body was sent is the answer",
          asksFirst, "a body that ends before its length is truncated",
          "a body that ends before its last chunk is truncated",
        ]
      ),
      (
        .caddyOverQUIC,
        [
          "header fields are sent in order, with duplicates and empty ones",
          "header fields come in order, with duplicates",
          "an answer before the body was sent is the answer",
          asksFirst, unknownLength, trailers, "a body that ends before its length is truncated",
          "a body that ends before its last chunk is truncated",
        ]
      ),
      (.tunnel, ofPromptHeads + [asksFirst, trailers, "interim responses are passed over"]),
    ])
    func `what a route hides is left out, and nothing else`(path: Path, hidden: [String]) {
      var hidden = Set(Self.ofConnections + hidden)
      if path.hiddenByHTTP1.contains(.requestFraming) { hidden.insert(Self.unknownLength) }
      if path.hiddenByHTTP1.contains(.earlyAnswers) {
        hidden.insert("an answer before the body was sent is the answer")
      }
      #expect(Set(path.conformance.omissions) == hidden)
    }

    @Test(.keepsNoConnections, arguments: Path.plainNginx.conformance.cases)
    func `nginx over HTTP/1.1`(_ check: TransportConformance.Case) async throws { try await check.run() }

    @Test(.keepsNoConnections, arguments: Path.squid.conformance.cases)
    func `a proxy of squid's`(_ check: TransportConformance.Case) async throws { try await check.run() }

    @Test(.readsAhead, .keepsNoConnections, arguments: Path.nginx.conformance.cases)
    func `nginx over TLS and HTTP/2`(_ check: TransportConformance.Case) async throws { try await check.run() }

    @Test(.readsAhead, .keepsNoConnections, arguments: Path.caddy.conformance.cases)
    func `caddy over TLS and HTTP/2`(_ check: TransportConformance.Case) async throws { try await check.run() }

    @Test(
      .enabled(if: CurlTransport.offersHTTP3, "the machine's libcurl has no HTTP/3"),
      arguments: Path.caddyOverQUIC.conformance.cases)
    func `caddy over HTTP/3`(_ check: TransportConformance.Case) async throws { try await check.run() }

    @Test(.readsAhead, .keepsNoConnections, arguments: Path.tunnel.conformance.cases)
    func `a tunnel of squid's`(_ check: TransportConformance.Case) async throws { try await check.run() }
  }
#endif
