#if os(Linux)
  import Errand
  import Foundation
  import Testing

  @Suite(.enabled(if: Httpbin.isExpected, "httpbin is not installed"), .timeLimit(.minutes(3)))
  struct HttpbinCookieTests {
    private struct Seen: TaskPayload { let cookies: [String: String] }

    /// The cookies that httpbin receives at the end of the redirects.
    private func seen(_ path: String, _ query: HTTPQuery = [:], from server: Server) async throws -> [String: String] {
      try await Endpoint<Void, Seen>.get(path, query: query).on(server).download().cookies
    }

    @Test func `stores, sends and deletes cookies set with redirects`() async throws {
      let httpbin = try await Httpbin()
      let server = Server(remote: Remote(httpbin.url), environment: [:])
      #expect(try await seen("cookies", from: server) == [:])
      #expect(
        try await seen("cookies/set", ["a": "1", "b": "two words"], from: server) == ["a": "1", "b": "two words"])
      #expect(try await seen("cookies/set/a/3", from: server) == ["a": "3", "b": "two words"])
      #expect(try await seen("cookies", from: server) == ["a": "3", "b": "two words"])
      #expect(try await seen("cookies/delete", ["a": ""], from: server) == ["b": "two words"])
      #expect(server.cookieJar?.cookies.map(\.name) == ["b"])
      withExtendedLifetime(httpbin) {}
    }

    @Test func `sends the cookies of the call instead of the jar's, or none`() async throws {
      let httpbin = try await Httpbin()
      let server = Server(remote: Remote(httpbin.url), environment: [:])
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
