#if os(Linux)
  import Errand
  import ErrandTesting
  import Testing

  @Suite(.balancedEvents, .timeLimit(.minutes(1)))
  struct TransportConformanceTests {
    static let curl = TransportConformance.parted(TransportConformance { try CurlTransport() }.cases)

    @Test(arguments: curl.others)
    func `libcurl passes the conformance checks`(_ check: TransportConformance.Case) async throws {
      try await check.run(limit: .seconds(50))
    }

    @Test(.keepsConnections, arguments: curl.kept)
    func `libcurl reuses connections`(_ check: TransportConformance.Case) async throws {
      #expect(Self.curl.kept.count == 4)
      try await check.run(limit: .seconds(50))
    }
  }
#endif
