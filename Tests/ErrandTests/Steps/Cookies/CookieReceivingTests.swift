import Foundation
import Testing

@testable import Errand

/// The cookies that a server can set (RFC 6265bis §5.7).
@Suite(.timeLimit(.minutes(1))) struct CookieReceivingTests {
  // Step 10: "If the canonicalized request-host does not domain-match the domain-attribute: Abort this algorithm and
  // ignore the cookie entirely. Otherwise: Set the cookie's host-only-flag to false." Without a domain: "Set the
  // cookie's host-only-flag to true."
  @Test func `accepts a cookie only for its host or a parent domain`() throws {
    var world = CookieWorld()
    #expect(world.set("a=1", at: "https://www.shop.test/") == nil)
    #expect(world.set("b=1; Domain=shop.test", at: "https://www.shop.test/") == nil)
    #expect(world.set("c=1; Domain=a.www.shop.test", at: "https://www.shop.test/") == .foreignDomain)
    #expect(world.set("d=1; Domain=evil.test", at: "https://www.shop.test/") == .foreignDomain)
    #expect(world.set("e=1; Domain=op.test", at: "https://www.shop.test/") == .foreignDomain)
    #expect(world.line("https://www.shop.test/") == "a=1; b=1")
    #expect(world.line("https://shop.test/") == "b=1" && world.line("https://a.www.shop.test/") == "b=1")
    #expect(world.line("https://evilshop.test/") == "")
  }

  // Step 8: "If the user agent is configured to reject "public suffixes" and the domain-attribute is a public suffix:
  // If the domain-attribute is identical to the canonicalized request-host: Let the domain-attribute be the empty
  // string. Otherwise: Abort this algorithm and ignore the cookie entirely."
  @Test func `rejects a public suffix as a domain`() {
    var world = CookieWorld()
    #expect(world.set("a=1; Domain=test", at: "https://shop.test/") == .publicSuffix)
    #expect(world.set("a=1; Domain=co.test", at: "https://shop.co.test/") == .publicSuffix)
    #expect(world.set("a=1; Domain=unlisted", at: "https://shop.unlisted/") == .publicSuffix)
    #expect(world.set("a=1; Domain=co.test", at: "https://co.test/") == nil)
    #expect(world.only?.isHostOnly == true && world.line("https://shop.co.test/") == "")
  }

  // Step 8. Without a list, any domain might be a public suffix.
  @Test(arguments: [
    ("ngrok.io", "evil.ngrok.io", "victim.ngrok.io"),
    ("s3.amazonaws.com", "evil.s3.amazonaws.com", "v.s3.amazonaws.com"),
    ("tokyo.jp", "evil.tokyo.jp", "v.tokyo.jp"), ("shop.test", "www.shop.test", "shop.test"),
  ]) func `without a suffix list, limits a cookie for a parent domain to the host that set it`(
    domain: String, host: String, neighbour: String
  ) throws {
    let field = try #require(SetCookie("a=1; Domain=\(domain)"))
    let cookie = try Cookie(field, from: CookieWorld.target("https://\(host)/"), now: Date(), PublicSuffixes())
    #expect(cookie.isHostOnly && cookie.domain == host)
    #expect(CookieWorld.target("https://\(neighbour)/").host != cookie.domain)
  }

  @Test func `without a suffix list, a host that is not a known suffix shares cookies with subdomains`() throws {
    func cookie(_ domain: String, of host: String) throws -> Cookie {
      let field = try #require(SetCookie("a=1; Domain=\(domain)"))
      return try Cookie(field, from: CookieWorld.target("https://\(host)/"), now: Date(), PublicSuffixes())
    }
    #expect(try !cookie("shop.test", of: "shop.test").isHostOnly)
    #expect(try cookie("github.io", of: "github.io").isHostOnly)
    #expect(throws: CookieRefusal.publicSuffix) { try cookie("github.io", of: "me.github.io") }
    #expect(throws: CookieRefusal.foreignDomain) { try cookie("other.test", of: "shop.test") }
  }

  // Step 9: "If the domain-attribute contains a character that is not in the range of [USASCII] characters, abort".
  @Test func `accepts an internationalized domain only in its ASCII form`() {
    var world = CookieWorld()
    #expect(world.set("a=1; Domain=bücher.test", at: "https://b%C3%BCcher.test/") == .notASCII)
    #expect(world.set("a=1; Domain=XN--bcher-kva.test", at: "https://b%C3%BCcher.test/") == nil)
    #expect(world.line("https://a.xn--bcher-kva.test/") == "a=1")
  }

  // §5.1.3: "The string is a host name (i.e., not an IP address)."
  @Test func `limits the cookies of an IP address to that address`() {
    var world = CookieWorld()
    #expect(world.set("a=1; Domain=10.0.0.1", at: "https://10.0.0.1/") == nil)
    #expect(world.only?.isHostOnly == true)
    #expect(world.set("b=1; Domain=0.0.1", at: "https://10.0.0.1/") == .foreignDomain)
    #expect(world.set("c=1", at: "https://[2001:db8::1]:8443/") == nil)
    #expect(world.line("https://[2001:DB8:0::1]/") == "c=1" && world.line("https://10.0.0.1:99/") == "a=1")
  }

  // Step 6: "If the cookie-attribute-list contains an attribute with an attribute-name of "Max-Age" … Otherwise, if …
  // "Expires"".
  @Test func `Max-Age takes precedence over Expires, and a cookie without either has no expiry`() {
    var world = CookieWorld()
    world.set("a=1; Expires=Wed, 15 Nov 2023 00:00:00 GMT; Max-Age=60; Path=/", at: "https://shop.test/")
    #expect(world.only?.expiry == world.now.addingTimeInterval(60))
    world.set("a=1; Expires=Wed, 15 Nov 2023 00:00:00 GMT; Path=/", at: "https://shop.test/")
    #expect(world.only?.expiry == Date(timeIntervalSince1970: 1_700_006_400))
    world.set("a=1; Path=/", at: "https://shop.test/")
    #expect(world.only?.expiry == nil)
  }

  // §5.5: "this limit SHOULD NOT be greater than 400 days (34560000 seconds) in the future."
  @Test(arguments: ["Max-Age=34560001", "Max-Age=99999999999999999999", "Expires=6 Nov 9999 00:00:00"])
  func `limits the lifetime of a cookie to 400 days`(attribute: String) {
    var world = CookieWorld()
    world.set("a=1; \(attribute)", at: "https://shop.test/")
    #expect(world.only?.expiry == world.now.addingTimeInterval(34_560_000))
  }

  // §5.6.2: "If delta-seconds is less than or equal to zero (0), let expiry-time be the earliest representable date and
  // time."
  @Test(arguments: ["Max-Age=0", "Max-Age=-1", "Expires=6 Nov 1994 08:49:37"])
  func `an expired cookie removes the existing cookie`(attribute: String) {
    var world = CookieWorld()
    world.set("a=1; Path=/; Max-Age=60", at: "https://shop.test/")
    world.set("a=2; Path=/x; \(attribute)", at: "https://shop.test/")
    #expect(world.line("https://shop.test/") == "a=1", "a cookie with another path is a separate cookie")
    world.set("a=; Path=/; \(attribute)", at: "https://shop.test/")
    #expect(world.line("https://shop.test/") == "" && world.storage.isEmpty)
  }

  // Step 13: "If the request-uri does not denote a "secure" connection …, and the cookie's secure-only-flag is true,
  // then abort this algorithm and ignore the cookie entirely."
  @Test func `accepts a Secure cookie only over TLS or from localhost`() {
    var world = CookieWorld()
    #expect(world.set("a=1; Secure", at: "http://shop.test/") == .insecureOrigin)
    #expect(world.set("a=1; Secure", at: "http://localhost:8080/") == nil)
    #expect(world.set("a=1; Secure", at: "https://shop.test/") == nil)
    #expect(world.line("https://shop.test/") == "a=1" && world.line("http://shop.test/") == "")
    #expect(world.line("http://localhost:8080/") == "a=1")
  }

  // Step 16: "If the cookie's secure-only-flag is false, and the request-uri does not denote a "secure" connection,
  // then abort … if the cookie store contains one or more cookies that meet all of the following criteria: Their name
  // matches …; Their secure-only-flag is true; Their domain domain-matches …, or vice-versa; The path of the newly
  // created cookie path-matches the path of the existing cookie."
  @Test func `a cookie set over plain HTTP can't shadow a Secure cookie`() {
    var world = CookieWorld()
    world.set("a=good; Secure; Path=/login; Domain=shop.test", at: "https://shop.test/")
    #expect(world.set("a=evil; Path=/login", at: "http://shop.test/") == .shadowsSecure)
    #expect(world.set("a=evil; Path=/login/en", at: "http://www.shop.test/") == .shadowsSecure)
    #expect(world.set("a=evil; Path=/login/en; Domain=shop.test", at: "http://www.shop.test/") == .shadowsSecure)
    #expect(world.set("b=1; Path=/login", at: "http://shop.test/") == nil, "the name differs")
    #expect(world.set("a=1; Path=/", at: "http://shop.test/") == nil, "the path is above the Secure cookie's path")
    #expect(world.set("a=1; Path=/login", at: "http://evil.test/") == nil, "the domain differs")
    #expect(world.line("https://shop.test/login") == "a=good; b=1; a=1")
    #expect(
      world.set("a=new; Path=/login; Domain=shop.test", at: "https://shop.test/") == nil,
      "a cookie set over TLS may replace it")
  }

  @Test func `a domain cookie set over plain HTTP can't shadow a subdomain's Secure cookie`() {
    var world = CookieWorld()
    world.set("a=good; Secure; Path=/", at: "https://www.shop.test/")
    #expect(world.set("a=evil; Path=/; Domain=shop.test", at: "http://shop.test/") == .shadowsSecure)
  }

  // Step 19: "If the cookie's "same-site-flag" is "None", abort this algorithm and ignore the cookie entirely unless
  // the cookie's secure-only-flag is true."
  @Test func `SameSite=None requires Secure`() {
    var world = CookieWorld()
    #expect(world.set("a=1; SameSite=None", at: "https://shop.test/") == .sameSiteNone)
    #expect(world.set("a=1; SameSite=None; Secure", at: "https://shop.test/") == nil)
  }

  // Step 20: "If the cookie-name begins with a case-insensitive match for the string "__Secure-", abort … unless the
  // cookie's secure-only-flag is true." Step 21, "__Host-": secure-only, host-only, and a Path attribute with the path
  // "/".
  @Test func `enforces the __Secure- and __Host- prefixes regardless of case`() {
    var world = CookieWorld()
    let url = "https://www.shop.test/"
    for name in ["__Secure-a", "__secure-a", "__SECURE-a"] {
      #expect(world.set("\(name)=1", at: url) == .securePrefix)
      #expect(world.set("\(name)=1; Secure; Domain=shop.test", at: url) == nil)
    }
    for name in ["__Host-a", "__host-a", "__HoSt-"] {
      #expect(world.set("\(name)=1; Path=/", at: url) == .hostPrefix)
      #expect(world.set("\(name)=1; Secure", at: url) == .hostPrefix, "the Path attribute is missing")
      #expect(world.set("\(name)=1; Secure; Path=/x", at: url) == .hostPrefix)
      #expect(world.set("\(name)=1; Secure; Path=/; Domain=www.shop.test", at: url) == .hostPrefix)
      #expect(world.set("\(name)=1; Secure; Path=/", at: url) == nil)
    }
    #expect(world.set("_Host-a=1", at: url) == nil && world.set("x__Host-a=1", at: url) == nil)
  }

  // Step 22: "If the cookie-name is empty and … the cookie-value begins with a case-insensitive match for the string
  // "__Secure-" [or] "__Host-"", ignore the cookie, because it would be sent with that name.
  @Test(arguments: ["=__Secure-a=1", "__Host-a", "=__host-a=1; Secure; Path=/", "__SECURE-"])
  func `rejects a nameless cookie whose value starts with a reserved prefix`(line: String) {
    var world = CookieWorld()
    #expect(world.set(line, at: "https://shop.test/") == .namelessPrefix)
  }
}
