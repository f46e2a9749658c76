import Errand
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct OriginTests {
  @Test(arguments: [
    ("https://Example.COM/a?b#c", "https://example.com:443"), ("http://example.com", "http://example.com:80"),
    ("HTTPS://example.com:8443/", "https://example.com:8443"), ("https://example.com:/x", "https://example.com:443"),
    ("http://[::1]:8080/x", "http://[::1]:8080"), ("http://[FE80::1]/", "http://[fe80::1]:80"),
    ("https://user:pa%40ss@example.com:1/x", "https://example.com:1"),
    ("https://example.com?a@b", "https://example.com:443"),
    ("https://example.com#a@b:7", "https://example.com:443"), ("https://a@b@example.com/", "https://example.com:443"),
  ])
  func `parses the scheme, host and port from a URL`(text: String, origin: String) throws {
    let url = try #require(URL(string: text))
    #expect(Origin(url)?.description == origin)
  }

  @Test(arguments: [
    "ftp://example.com", "file:///etc/passwd", "mailto:a@b.c", "relative/path", "http:///nohost", "https:",
  ])
  func `a URL has no origin unless it is an absolute http or https URL`(text: String) throws {
    #expect(Origin(try #require(URL(string: text))) == nil)
  }

  @Test func `splits an origin into scheme, host and port`() throws {
    let origin = try #require(Origin(.known("http://[::1]:8080/x")))
    #expect(origin.host == "[::1]")
    #expect(origin.port == 8080)
    #expect(origin.scheme == "http")
    #expect(!origin.isSecure)
    #expect(Origin(.known("https://a.test"))?.host == "a.test")
  }

  @Test func `origins are equal if their schemes, hosts and ports are equal`() {
    #expect(Origin(.known("https://a.test")) == Origin(.known("https://u@A.test:443/x")))
    #expect(Origin(.known("https://a.test")) != Origin(.known("http://a.test:443")))
  }

  @Test(arguments: [
    "localhost", "LOCALHOST", "shop.localhost", "127.0.0.1", "127.255.0.9", "[::1]", "127.1",
    "0x7f.0.0.1", "2130706433", "017700000001", "127.0.0.1.", "localhost.", "loc%61lhost", "LOCALHOS%54", "[0:0::1]",
    "[::ffff:127.0.0.1]", "[0:0:0:0:0:0:0:1]", "%6c.localhost",
  ])
  func `recognizes loopback hosts in every notation`(host: String) throws {
    #expect(try #require(Origin(.known("http://\(host):81/"))).isLoopback)
  }

  @Test(arguments: [
    "example.com", "127.0.0.1.example.com", "localhost.example.com", "notlocalhost", "128.0.0.1", "127.0.0.1.evil",
    "127-0-0-1",
    "[::2]", "[::]", "0.0.0.0", "0x7f000001.example.com", "[::ffff:128.0.0.1]", "localhost.evil", "xlocalhost",
    "10.0.0.1", "localhost@example.com",
  ])
  func `does not treat any other host as loopback`(host: String) throws {
    #expect(try #require(Origin(.known("http://\(host)/"))).isLoopback == false)
  }

  @Test(arguments: [
    ("https://loc%61lhost/x", "https://localhost:443"), ("https://EXAMPLE.com./x", "https://example.com:443"),
    ("https://%45xample.com:8443", "https://example.com:8443"), ("https://127.1/", "https://127.0.0.1:443"),
    ("https://0x7F.1/", "https://127.0.0.1:443"), ("https://2130706433:1/", "https://127.0.0.1:1"),
    ("https://0177.0.0.1/", "https://127.0.0.1:443"), ("https://10.0.258/", "https://10.0.1.2:443"),
    ("https://%31%32%37.0.0.1/", "https://127.0.0.1:443"), ("https://192.168.000.1/", "https://192.168.0.1:443"),
    ("https://[2001:DB8:0:0:0:0:0:1]/", "https://[2001:db8::1]:443"),
    ("https://[fe80::1%25eth0]/", "https://[fe80::1%25eth0]:443"),
    ("https://my_service.corp/", "https://my_service.corp:443"), ("https://1.example/", "https://1.example:443"),
    ("https://4chan.3com/", "https://4chan.3com:443"), ("https://u:p@EXAMPLE.com./", "https://example.com:443"),
  ])
  func `a host has one canonical form`(text: String, origin: String) throws {
    #expect(Origin(try #require(URL(string: text)))?.description == origin)
  }

  @Test(arguments: [
    "127.999.1.1", "127.evil.0.1", "256.1.1.1", "1.2.3.4.5", "08.1.1.1", "4294967296", "0xffffffff1", "127.0.0.1..",
    "example.com..", "a..b", ".localhost", ".", "a%2Fb", "a%00b", "a%20b", "a%0d%0ab", "a%3A80", "a%40b", "a%2561",
    "a%3Fb", "a%23b", "a%5Bb", "a%5Cb", "a%", "a%zz", "[::1%25]", "[::g]", "[v1.x]", "a!b", "a,b",
    "0x",
  ])
  func `rejects a host that is invalid before or after percent-decoding`(host: String) {
    // Foundation rejects some of these URLs too.
    for url in [URL(string: "http://\(host)/"), URL(string: "http://\(host)/", encodingInvalidCharacters: false)] {
      if let url { #expect(Origin(url) == nil, "\(url.absoluteString)") }
    }
  }

  @Test(arguments: [
    "http://a.test:+80/", "http://a.test:65536/", "http://a.test:8%30/", "http://a.test:99999999999999999999/",
  ])
  func `rejects an invalid port`(text: String) {
    if let url = URL(string: text) { #expect(Origin(url) == nil) }
  }
}
