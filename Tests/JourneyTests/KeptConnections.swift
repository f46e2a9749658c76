import Testing

#if os(Linux)
  import Errand
  import ErrandTesting

  /// Whether connections are reused.
  let keepsConnections = CurlLibrary.hasRequestCallback

  extension Trait where Self == ConditionTrait {
    /// The test needs reused connections.
    static var keepsConnections: ConditionTrait {
      .enabled(if: JourneyTests.keepsConnections, "this libcurl opens a connection for each exchange")
    }
  }

  extension TransportConformance {
    /// Splits the cases into those that need reused connections and all others.
    static func parted(_ cases: [Case]) -> (kept: [Case], others: [Case]) {
      let names = [
        "returns a length but no body for HEAD, and reuses the connection",
        "returns no body for 204 and 304, and reuses the connection", "reuses a connection",
        "resends a repeatable GET if its pooled connection is stale",
      ]
      return (cases.filter { names.contains($0.name) }, cases.filter { !names.contains($0.name) })
    }
  }

  @Suite(
    .enabled(if: !keepsConnections, "this libcurl reuses connections"), .balancedEvents,
    .timeLimit(.minutes(1)))
  struct LoneExchangeTests {
    @Test func `each exchange uses its own connection`() async throws {
      let shop = try Shop()
      for _ in 0..<5 { _ = try await GetWidget().on(shop.server).download() }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<20 { group.addTask { _ = try await GetWidget().on(shop.server).download() } }
        try await group.waitForAll()
      }
      #expect(shop.mock.connectionCount == 25 && shop.mock.requestCount == 25)
    }

    @Test func `does not resend a POST that may have been sent on a closed connection`() async throws {
      let shop = try Shop()
      shop.mock.enqueue(.drop)
      let error = await #expect(throws: TaskError.self) {
        try await AddWidget().on(shop.server).retry(upTo: 3, after: .zero).run()
      }
      #expect(error?.code == .connectionLost && error?.wasNotSent == false)
      #expect(shop.mock.requestCount == 1)
    }

    @Test func `rejects HTTP/2 with prior knowledge`() async throws {
      var configuration = CurlTransport.Configuration()
      configuration.version = .http2PriorKnowledge
      let transport = try CurlTransport(configuration)
      let mock = try MockServer()
      let error = await #expect(throws: TaskError.self) { try await transport.send(HTTPRequest(.get, mock.url)) }
      #expect(error?.code == .transportUnavailable && error?.wasNotSent == true && mock.connectionCount == 0)
    }
  }
#else
  let keepsConnections = true
#endif
