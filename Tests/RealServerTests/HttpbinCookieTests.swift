#if os(Linux)
  import Errand
  import Foundation
  import Testing

  @Suite(.enabled(if: Httpbin.isExpected, "httpbin is not installed"), .timeLimit(.minutes(3)))
  struct HttpbinCookieTests {
    private struct Seen: TaskPayload { let cookies: [String: String] }

    /// Returns the cookies that httpbin receives after the last redirect.
    private func seen(_ path: String, _ query: HTTPQuery = [:], from server: Server) async throws -> [String: String] {
      try await Endpoint<Void, Seen>.get(path, query: query).on(server).download().cookies
    }

    @Test func `stores, sends and deletes cookies set by redirects`() async throws {
      let httpbin = try await Httpbin()
      let server = Server(Remote(httpbin.url), environment: [:])
      #expect(try await seen("cookies", from: server) == [:])
      #expect(
        try await seen("cookies/set", ["a": "1", "b": "two words"], from: server) == ["a": "1", "b": "two words"])
      #expect(try await seen("cookies/set/a/3", from: server) == ["a": "3", "b": "two words"])
      #expect(try await seen("cookies", from: server) == ["a": "3", "b": "two words"])
      #expect(try await seen("cookies/delete", ["a": ""], from: server) == ["b": "two words"])
      #expect(server.cookieJar?.cookies.map(\.name) == ["b"])
      withExtendedLifetime(httpbin) {}
    }

    @Test func `sends the call's cookies instead of the jar's, or no cookies`() async throws {
      let httpbin = try await Httpbin()
      let server = Server(Remote(httpbin.url), environment: [:])
      _ = try await seen("cookies/set", ["a": "1"], from: server)
      let page = Endpoint<Void, Seen>.get("cookies")
      #expect(try await page.cookies(.none).on(server).download().cookies == [:])
      #expect(
        try await page.cookies(.sending(["b": "2", "c": "3"])).on(server).download().cookies == ["b": "2", "c": "3"])
      #expect(try await page.on(server).download().cookies == ["a": "1"])
      withExtendedLifetime(httpbin) {}
    }
  }
#endif
