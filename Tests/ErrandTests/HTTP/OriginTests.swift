import Errand
import Foundation
import Testing

@Suite struct OriginTests {
  @Test(arguments: [
    ("https://Example.COM/a?b#c", "https://example.com:443"), ("http://example.com", "http://example.com:80"),
    ("HTTPS://example.com:8443/", "https://example.com:8443"), ("https://example.com:/x", "https://example.com:443"),
    ("http://[::1]:8080/x", "http://[::1]:8080"), ("http://[FE80::1]/", "http://[fe80::1]:80"),
    ("https://user:pa%40ss@example.com:1/x", "https://example.com:1"),
    ("https://example.com?a@b", "https://example.com:443"),
    ("https://example.com#a@b:7", "https://example.com:443"), ("https://a@b@example.com/", "https://example.com:443"),
  ])
  func `scheme, host and port are read from the URL`(text: String, origin: String) throws {
    let url = try #require(URL(string: text))
    #expect(Origin(url)?.description == origin)
  }

  @Test(arguments: [
    "ftp://example.com", "file:///etc/passwd", "mailto:a@b.c", "relative/path", "http:///nohost", "https:",
  ])
  func `what is no absolute http URL has no origin`(text: String) throws {
    #expect(Origin(try #require(URL(string: text))) == nil)
  }

  @Test func `its parts are what the URL says`() throws {
    let origin = try #require(Origin(.known("http://[::1]:8080/x")))
    #expect(origin.host == "[::1]")
    #expect(origin.port == 8080)
    #expect(origin.scheme == "http")
    #expect(!origin.isSecure)
    #expect(Origin(.known("https://a.test"))?.host == "a.test")
  }

  @Test func `origins are equal when scheme, host and port are`() {
    #expect(Origin(.known("https://a.test")) == Origin(.known("https://u@A.test:443/x")))
    #expect(Origin(.known("https://a.test")) != Origin(.known("http://a.test:443")))
  }

  @Test(arguments: ["localhost", "LOCALHOST", "shop.localhost", "127.0.0.1", "127.255.0.9", "[::1]"])
  func `this machine is loopback`(host: String) throws {
    #expect(try #require(Origin(.known("http://\(host):81/"))).isLoopback)
  }

  @Test(arguments: [
    "example.com", "127.0.0.1.example.com", "localhost.example.com", "notlocalhost", "128.0.0.1", "127.evil.0.1",
    "[::2]", "10.0.0.1", "localhost@example.com",
  ])
  func `other hosts are not`(host: String) throws {
    #expect(try #require(Origin(.known("http://\(host)/"))).isLoopback == false)
  }
}
