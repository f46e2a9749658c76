import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct ProxyRulesTests {
  private func proxy(_ environment: [String: String], for url: String) throws -> String? {
    let origin = try #require(URL(string: url).flatMap { Origin($0) })
    return ProxyRules.environment(environment).proxy(for: origin)?.address
  }

  @Test func `reads a proxy per scheme, or one proxy for all schemes, from the environment`() throws {
    let both = ["http_proxy": "a.test:1", "HTTPS_PROXY": "https://b.test:2", "all_proxy": "socks5h://c.test"]
    #expect(try proxy(both, for: "http://shop.test") == "http://a.test:1")
    #expect(try proxy(both, for: "https://shop.test") == "https://b.test:2")
    #expect(try proxy(["ALL_PROXY": "socks5://c.test"], for: "https://shop.test") == "socks5h://c.test:1080")
    #expect(
      try proxy(["https_proxy": "a.test:1", "HTTPS_PROXY": "b.test:2"], for: "https://shop.test") == "http://a.test:1")
    #expect(try proxy(["http_proxy": "", "all_proxy": "c.test:3"], for: "http://shop.test") == "http://c.test:3")
    #expect(try proxy(["all_proxy": "http://[fd00::1]:3128/"], for: "http://shop.test") == "http://[fd00::1]:3128")
    #expect(try proxy([:], for: "http://shop.test") == nil)
  }

  @Test func `ignores uppercase HTTP_PROXY, which CGI clients can set`() throws {
    #expect(try proxy(["HTTP_PROXY": "evil.test:1"], for: "http://shop.test") == nil)
  }

  @Test(arguments: [
    "http://user:pa#ss@proxy.test:3128", "http://user:pa/ss@proxy.test:3128", "socks4://proxy.test",
    "//proxy.test:3128",
    "http://proxy.test:0", "http://proxy.test:99999", "http://",
  ])
  func `an invalid proxy variable fails a call instead of bypassing the proxy`(value: String) async throws {
    let transport = try CurlTransport(
      {
        var configuration = CurlTransport.Configuration()
        configuration.proxies = .environment(["https_proxy": value, "no_proxy": "direct.test"])
        configuration.addresses = ["direct.test:9": "127.0.0.1"]
        return configuration
      }())
    let error = await #expect(throws: TaskError.self) {
      try await transport.send(HTTPRequest(.get, .known("https://shop.test/")))
    }
    #expect(error?.code == .transportUnavailable && error?.reason.contains("https_proxy") == true, "\(value)")
    #expect(error?.reason.contains("pa#ss") == false && error?.reason.contains("pa/ss") == false)
    let direct = await #expect(throws: TaskError.self) {
      try await transport.send(HTTPRequest(.get, .known("https://direct.test:9/")))
    }
    #expect(direct?.code == .cannotConnect, "\(value)")
  }

  @Test func `trims whitespace around the value of a proxy variable`() throws {
    #expect(try proxy(["https_proxy": " http://p.test:1 "], for: "https://shop.test") == "http://p.test:1")
  }

  @Test func `reads proxy credentials from the proxy URL`() throws {
    let origin = try #require(Origin(.known("https://shop.test")))
    let rules = ProxyRules.environment(["https_proxy": "http://some%40body:open%20sesame@p.test:3128"])
    #expect(rules.proxy(for: origin)?.credential == Credential(user: "some@body", password: "open sesame"))
  }

  @Test(arguments: [
    "*", "shop.test", ".test", "*.test", "shop.test:443", "other.test, SHOP.test", "shop.test.", "test",
  ])
  func `bypasses the proxy for an excluded host`(exceptions: String) throws {
    for name in ["no_proxy", "NO_PROXY"] {
      #expect(try proxy(["https_proxy": "p.test:1", name: exceptions], for: "https://Shop.test./x") == nil)
    }
  }

  @Test(arguments: ["", "op.test", "shop.test:80", "shop", "shop.test.evil", "est", ".", "10.0.0.1"])
  func `does not bypass the proxy for other hosts`(exceptions: String) throws {
    #expect(try proxy(["https_proxy": "p.test:1", "no_proxy": exceptions], for: "https://shop.test") != nil)
  }

  @Test(arguments: [
    ("10.1", "10.0.0.1", true), ("10.0.0.1", "10.1", true), ("2001:db8::5", "[2001:DB8:0::5]", true),
    ("[2001:db8::5]", "[2001:db8::5]", true), ("[2001:db8::5]:443", "[2001:db8::5]", true),
    ("[2001:db8::5]:80", "[2001:db8::5]", false), ("0.0.1", "10.0.0.1", false),
  ])
  func `compares IP addresses by value`(exception: String, host: String, isDirect: Bool) throws {
    let address = try proxy(["https_proxy": "p.test:1", "no_proxy": exception], for: "https://\(host)")
    #expect((address == nil) == isDirect)
  }

  // Test cases from curl's unit test 1614 and from Python's requests.
  @Test(arguments: [
    ("10.0.0.0/8", "10.1.2.3", true), ("10.0.0.0/8", "11.0.0.1", false), ("10.9.8.7/8", "10.1.2.3", true),
    ("192.168.0.0/16", "192.168.0.1", true), ("192.168.0.0/24", "192.168.1.1", false),
    ("192.168.0.0/32", "192.168.0.1", false), ("192.168.0.1/32", "192.168.0.1", true),
    ("192.168.0.0/31", "192.168.0.1", true), ("192.168.0.0/31", "192.168.0.2", false),
    ("foo, bar, 192.168.0.0/16", "192.168.1.1", true), ("0.0.0.0/0", "203.0.113.9", true),
    ("0.0.0.0/0", "[fd00::1]", false), ("fd00::/8", "[fd12:3456::1]", true), ("fd00::/8", "[2001:db8::1]", false),
    ("[fd00::]/8", "[fd00::1]", true), ("[fd00::/8]", "[fd00::1]", true), ("2001:db8::/33", "[2001:db8:7fff::1]", true),
    ("2001:db8::/33", "[2001:db8:8000::1]", false), ("fe80::/10", "[fe80::1%25eth0]", true),
    ("::/0", "[fd00::1]", true),
    ("::/0", "10.0.0.1", false), ("10.0.0.0/8", "ten.test", false), ("10.0.0.0/8", "10.1", true),
  ])
  func `bypasses the proxy for an excluded address block`(exceptions: String, host: String, isDirect: Bool)
    throws
  {
    let address = try proxy(["https_proxy": "p.test:1", "no_proxy": exceptions], for: "https://\(host)")
    #expect((address == nil) == isDirect)
    let origin = try #require(Origin(.known("https://\(host)")))
    let rules = ProxyRules.all(Proxy(host: "p.test", port: 1), except: [exceptions])
    #expect((rules.proxy(for: origin) == nil) == isDirect)
  }

  @Test(arguments: [
    "other.test shop.test", "other.test\tshop.test\n", "foo,,,,,              shop.test, 10.0.0.0/8", ".shop.test.",
    "*:443", "*.shop.test:443", "SHOP.TEST:443",
  ])
  func `proxy exceptions can be separated by commas or whitespace`(exceptions: String) throws {
    let lines = Shared<[String]>([])
    let rules = ProxyRules.environment(
      ["https_proxy": "p.test:1", "no_proxy": exceptions], log: LogOutput { line in lines.withLock { $0.append(line) } }
    )
    #expect(rules.proxy(for: try #require(Origin(.known("https://www.shop.test")))) == nil)
    #expect(lines.withLock { $0 } == [])
  }

  @Test(arguments: [
    "10.0.0.0/33", "10/8", "10.0.0.0/255.0.0.0", "10.0.0.0/", "10.0.0.0/8:80", "fd00::/129", "/8", "10.0.0.0//8",
    "10.*",
    "http://shop.test", "shop.test/", "shop.test:", "shop.test:http", "shop.test:65536", "a;b", "<local>", ".",
    "[fd00::1",
    "1.2.3.4.5", "999.1.1.1", "a..b",
  ])
  func `logs an invalid proxy exception`(exception: String) throws {
    let lines = Shared<[String]>([])
    let log = LogOutput { line in lines.withLock { $0.append(line) } }
    let rules = ProxyRules.environment(["https_proxy": "p.test:1", "NO_PROXY": "\(exception) direct.test"], log: log)
    #expect(rules.proxy(for: try #require(Origin(.known("https://shop.test")))) != nil)
    #expect(rules.proxy(for: try #require(Origin(.known("https://direct.test")))) == nil)
    _ = ProxyRules.all(Proxy(host: "p.test", port: 1), except: [exception], log: log)
    let said = lines.withLock { $0 }
    #expect(said.count == 2 && said[0].hasPrefix("NO_PROXY: '\(exception)' is ignored"), "\(said)")
  }

  @Test(arguments: ["localhost", "shop.localhost", "127.0.0.1", "127.1", "[::1]", "LOCALHOST.", "[::ffff:127.0.0.1]"])
  func `never uses a proxy for the local machine`(host: String) throws {
    for scheme in ["http", "https"] {
      #expect(try proxy(["all_proxy": "p.test:1"], for: "\(scheme)://\(host):8080/x") == nil)
      let origin = try #require(Origin(.known("\(scheme)://\(host)/")))
      #expect(ProxyRules.all(Proxy(host: "p.test", port: 1)).proxy(for: origin) == nil)
    }
  }
}
