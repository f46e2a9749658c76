#if os(Linux)
  import Errand
  import ErrandTesting
  import Testing

  @Suite(.balancedEvents, .timeLimit(.minutes(10)))
  struct TransportConformanceTests {
    static let curl = TransportConformance { try CurlTransport() }.cases

    @Test(arguments: curl)
    func `libcurl does what a transport must do`(_ check: TransportConformance.Case) async throws {
      try await check.run()
    }
  }
#endif
