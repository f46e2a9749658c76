import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct CookieTargetTests {
  // RFC 6265bis §5.1.3: "A string domain-matches a given domain string if at least one of the following conditions
  // hold: The domain string and the string are identical", or "The domain string is a suffix of the string. The last
  // character of the string that is not included in the domain string is a %x2E (".") character. The string is a host
  // name (i.e., not an IP address)."
  @Test(arguments: [
    ("shop.test", "shop.test", true), ("a.shop.test", "shop.test", true), ("a.b.shop.test", "shop.test", true),
    ("evilshop.test", "shop.test", false), ("shop.test", "a.shop.test", false), ("SHOP.test", "shop.test", true),
    ("test", "shop.test", false), ("shop.test.", "shop.test", true), ("10.0.0.1", "10.0.0.1", true),
    ("10.0.0.1", "0.0.1", false), ("10.0.0.1", "1", false), ("[::1]", "[::1]", true), ("0xa000001", "10.0.0.1", true),
    ("b%C3%BCcher.test", "xn--bcher-kva.test", true),
  ]) func `a host matches its own name and its parent domains`(host: String, domain: String, matches: Bool) {
    #expect(CookieWorld.target("https://\(host)/").matches(domain: domain) == matches)
  }

  // §5.1.4: "If the uri-path is empty or if the first character of the uri-path is not a %x2F ("/") character, output
  // %x2F … If the uri-path contains no more than one %x2F ("/") character, output %x2F … Output the characters of the
  // uri-path from the first character up to, but not including, the right-most %x2F ("/")."
  @Test(arguments: [
    ("https://a.test", "/", "/"), ("https://a.test/", "/", "/"), ("https://a.test/x", "/x", "/"),
    ("https://a.test/x/", "/x/", "/x"), ("https://a.test/x/y", "/x/y", "/x"), ("https://a.test?q=/x/y", "/", "/"),
    ("https://a.test/x/y?q=/z/z#/w/w", "/x/y", "/x"), ("https://u@a.test:8443/x/y/z", "/x/y/z", "/x/y"),
    ("https://a.test/a%2Fb/c", "/a%2Fb/c", "/a%2Fb"), ("http://[::1]:80/x/y", "/x/y", "/x"),
  ]) func `computes a request's path and its default cookie path`(url: String, path: String, defaultPath: String) {
    let target = CookieWorld.target(url)
    #expect(target.path == path && target.defaultPath == defaultPath)
  }

  // §5.1.4: "The cookie-path and the request-path are identical", or "a prefix of the request-path, and the last
  // character of the cookie-path is %x2F ("/")", or "a prefix …, and the first character of the request-path that is
  // not included in the cookie-path is a %x2F ("/") character."
  @Test(arguments: [
    ("/", "/", true), ("/x", "/", true), ("/x", "/x", true), ("/x/y", "/x", true), ("/x/y", "/x/", true),
    ("/xy", "/x", false), ("/foobar", "/foo", false), ("/x", "/x/", false), ("/X", "/x", false),
    ("/x%2Fy", "/x", false),
  ]) func `a cookie path matches only whole segments`(path: String, cookiePath: String, matches: Bool) {
    #expect(CookieTarget.isPath(path, below: cookiePath) == matches)
  }

  // §5.2: a site consists of the scheme and the registrable domain ("same site" in the HTML Standard).
  @Test(arguments: [
    ("https://a.shop.test/", "https://shop.test/", true), ("https://a.shop.test/", "https://b.shop.test:444/", true),
    ("https://shop.test/", "http://shop.test/", false), ("https://shop.test/", "https://evil.test/", false),
    ("https://a.co.test/", "https://b.co.test/", false), ("https://10.0.0.1/", "https://10.0.0.1:4/", true),
    ("https://10.0.0.1/", "https://11.0.0.1/", false), ("https://test/", "https://test:4/", true),
    ("https://co.test/", "https://test/", false),
  ]) func `a site consists of a scheme and a registrable domain`(url: String, other: String, isSame: Bool) {
    let suffixes = PublicSuffixes(list: Data("test\nco.test".utf8))
    #expect(CookieWorld.target(url).isSameSite(as: CookieWorld.target(other), suffixes) == isSame)
    #expect(CookieWorld.target(other).isSameSite(as: CookieWorld.target(url), suffixes) == isSame)
  }

  @Test func `a relative or non-HTTP URL has no cookies`() throws {
    #expect(CookieTarget(try #require(URL(string: "ftp://a.test/"))) == nil)
    #expect(CookieTarget(try #require(URL(string: "/a"))) == nil)
  }
}
