import Errand
import ErrandTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct ConformanceRouteTests {
  @Test func `a direct route omits no checks`() {
    #expect(TransportConformance { PlatformTransport() }.omissions.isEmpty)
  }

  @Test func `omits only the checks that need a trait hidden by the route`() {
    let all = TransportConformance { PlatformTransport() }.cases.map(\.name)
    for hidden in [ConformanceRoute.Traits.target, .trailers, [.methods, .expectations]] {
      let route = ConformanceRoute(preserves: .all.subtracting(hidden)) {
        .init(transport: PlatformTransport(), origin: $0.url)
      }
      let conformance = TransportConformance(over: route)
      #expect(!conformance.omissions.isEmpty)
      #expect(all.filter { !conformance.omissions.contains($0) } == conformance.cases.map(\.name))
    }
  }

  @Test func `a check fails if its route does not reach the server`() async throws {
    let elsewhere = try MockServer()
    let route = ConformanceRoute(preserves: .all) { _ in
      .init(transport: PlatformTransport(), origin: elsewhere.url, intermediary: elsewhere)
    }
    let check = try #require(TransportConformance(over: route).cases.first { $0.name == "does not send the fragment" })
    await #expect(throws: TransportConformance.Failure.self) { try await check.run() }
    #expect(elsewhere.requests.map(\.target) == ["/a?b"])
  }
}
