import Errand
import Foundation
import Testing

@Suite(.enabled(if: Nginx.isExpected, "nginx is not installed"), .timeLimit(.minutes(3)))
struct NginxRedirectTests {
  @Test(arguments: [301, 302, 303, 307, 308])
  func `does not send credentials after a redirect to another port`(code: Int) async throws {
    let (first, second) = (try await Nginx(), try await Nginx(files: ["hello": Data("hello\n".utf8)]))
    let server = Server(Remote(first.url))
    await server.update { $0.standardHeaders[.authorization] = "s3cret" }
    let target = second.url.appendingPathComponent("echo/authorization")
    let url = try #require(URL(string: "\(first.url)/moved/\(code)?to=\(target)"))
    let result = try await URLTask(url, headers: ["X-Api-Key": "s3cret", "X-Plain": "1"]).on(server).response()
    #expect(result.text == "authorization= key= plain=1\n" && result.response.url == target)
    let redirect = try #require(result.response.redirects.first)
    #expect(result.response.redirects.count == 1)
    #expect(redirect == Redirect(.get, url, HTTPStatus(code), headers: redirect.headers))
    #expect(redirect.headers[.location] == "\(target)" && redirect.headers["Server"]?.hasPrefix("nginx") == true)
    let own = try #require(URL(string: "\(first.url)/moved/\(code)?to=/echo/authorization"))
    #expect(try await URLTask(own).on(server).response().text == "authorization=s3cret key= plain=\n")
    withExtendedLifetime((first, second)) {}
  }

  // nginx returns an absolute URL with its port.
  @Test func `follows nginx's redirect that adds a folder's trailing slash`() async throws {
    let nginx = try await Nginx()
    let response = try await URLTask(nginx.url.appendingPathComponent("folder")).on(Server(Remote(nginx.url)))
      .run()
    #expect(response.redirects.map(\.status) == [301] && response.url.absoluteString == "\(nginx.url)/folder/")
    withExtendedLifetime(nginx) {}
  }
}
