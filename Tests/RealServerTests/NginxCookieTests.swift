import Errand
import Foundation
import Testing

@Suite(.enabled(if: Nginx.isExpected, "nginx is not installed"), .timeLimit(.minutes(3)))
struct NginxCookieTests {
  @Test func `stores nginx's cookies and sends them to matching paths`() async throws {
    let nginx = try await Nginx()
    let server = Server(Remote(nginx.url), environment: [:])
    func seen(_ path: String) async throws -> String? {
      try await URLTask(nginx.url.appendingPathComponent(path)).on(server).response().text
    }
    #expect(try await seen("echo/cookie") == "\n")
    try await URLTask(nginx.url.appendingPathComponent("cookies/set")).on(server).run()
    #expect(try await seen("echo/cookie") == "echo=2; all=1\n")
    #expect(try await seen("cookies/get") == "deep=3; all=1\n")
    #expect(try await seen("cookiesandmore") == "all=1\n")
    let cookies = server.cookieJar?.cookies ?? []
    #expect(
      cookies.map(\.name) == ["all", "echo", "deep"] && cookies.map { $0.expiry != nil } == [false, false, true])
    try await URLTask(nginx.url.appendingPathComponent("cookies/clear")).on(server).run()
    #expect(try await seen("echo/cookie") == "echo=2\n")
    withExtendedLifetime(nginx) {}
  }
}
