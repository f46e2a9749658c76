#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// Errand's cache with squid's cache in front of the origin.
  @Suite(.enabled(if: Squid.isExpected, "squid is not installed"), .timeLimit(.minutes(3)))
  struct SquidCacheTests {
    private struct GetText: PayloadDownloadingTask {
      typealias DownloadPayload = String
      let path = "text"
    }

    private let mock: MockServer

    init() throws { mock = try MockServer() }

    private func server(by squid: Squid, cache: MemoryCache? = nil) async throws -> Server {
      var configuration = CurlTransport.Configuration()
      configuration.proxies = .all(squid.proxy)
      let url = try #require(URL(string: "http://shop.test:\(mock.url.port ?? 0)"))
      let server = Server(Remote(url), transport: try CurlTransport(configuration))
      await server.update {
        $0.insecureHosts = ["shop.test"]
        $0.cache = cache
      }
      return server
    }

    private func date(_ seconds: Double) -> String {
      let formatter = DateFormatter()
      formatter.locale = Locale(identifier: "en_US_POSIX")
      formatter.timeZone = TimeZone(identifier: "GMT")
      formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
      return formatter.string(from: Date(timeIntervalSinceNow: seconds))
    }

    private func age(_ response: TaskResponse<String>) throws -> Int {
      try #require(response.headers[.age].flatMap { Int($0) })
    }

    // RFC 9111 §4.2.3: the age is the larger of the ages from `Date` and `Age`, plus the time since the response
    // arrived. Each case starts a squid and waits 2 s for a response to age.
    @Test(arguments: [(date: -100.0, age: 0), (date: 0, age: 100), (date: -40, age: 100), (date: -100, age: 40)])
    func `Errand and squid compute the same age for a response`(origin: (date: Double, age: Int)) async throws {
      let answer = MockAnswer.text("from the origin").header(.cacheControl, "max-age=10000")
      mock.route("/*", answer: answer.header(.date, date(origin.date)).header(.age, "\(origin.age)"))
      let squid = try await Squid(caches: true)
      let asking = try await server(by: squid)
      let keeping = try await server(by: squid, cache: MemoryCache())
      _ = try await GetText().on(asking).response()
      let start = ContinuousClock.now
      let kept = try await GetText().on(keeping).response()
      // The duration of the request counts toward the age.
      let delay = Int((ContinuousClock.now - start).components.seconds) + 1
      #expect(kept.headers[.cacheStatus] == "errand; fwd=uri-miss; stored")
      let first = try age(kept)
      #expect(first >= 100)
      #expect(try await eventually { try await age(GetText().on(asking).response()) >= first + 2 })
      let before = try await age(GetText().on(asking).response())
      let hit = try await GetText().on(keeping).response()
      let after = try await age(GetText().on(asking).response())
      #expect(hit.headers.values(for: .cacheStatus).last?.hasPrefix("errand; hit") == true)
      // Each cache computes the age in whole seconds.
      let ours = try age(hit)
      #expect(before - 1 <= ours && ours <= after + 1 + delay, "\(before), \(ours), \(after)")
      #expect(mock.requestCount == 1, "squid answered all other requests from its cache")
    }
  }
#endif
