import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct CookieJarTests {
  private let shop = URL.known("https://www.shop.test/login")

  @Test func `sets, lists and removes cookies`() throws {
    let jar = CookieJar()
    try jar.set("session=abc; Path=/; Secure; HttpOnly; SameSite=Strict", from: shop)
    try jar.set("theme=dark; Path=/; Domain=shop.test; Max-Age=60", from: shop)
    #expect(jar.cookies.map(\.name) == ["session", "theme"] && jar.cookies(for: shop).map(\.value) == ["abc", "dark"])
    let first = try #require(jar.cookies.first)
    #expect(first.domain == "www.shop.test" && first.path == "/" && first.isHostOnly && first.expiry == nil)
    #expect(first.isSecure && first.isHTTPOnly && first.sameSite == .strict)
    #expect(jar.cookies(for: .known("https://shop.test/")).map(\.name) == ["theme"])
    #expect(jar.cookies(for: .known("ftp://shop.test/")).isEmpty)
    jar.removeAll { $0.name == "session" }
    #expect(jar.cookies.map(\.name) == ["theme"])
    jar.removeAll()
    #expect(jar.cookies.isEmpty)
  }

  @Test(arguments: [
    ("a=1; Domain=other.test", "its domain does not match the host"), ("a=\u{1}", "control character"),
    ("a=1; Domain=com", "its domain does not match the host"), ("__Host-a=1", "__Host-"),
    ("a=1; Domain=test", "public suffix"),
  ]) func `rejects a cookie that the server is not allowed to set and reports why`(line: String, reason: String) {
    let jar = CookieJar()
    let error = #expect(throws: TaskError.self) { try jar.set(line, from: shop) }
    #expect(error?.code == .badRequest && error?.reason.contains(reason) == true && jar.cookies.isEmpty)
    #expect(error?.reason.hasPrefix("the cookie from 'https://www.shop.test/login' was rejected: ") == true)
  }

  @Test func `cookies expire according to the jar's clock`() throws {
    let clock = ManualClock()
    let jar = CookieJar(clock: CallClock(clock))
    try jar.set("a=1; Max-Age=60", from: shop)
    clock.advance(by: .seconds(59))
    #expect(jar.cookies.count == 1)
    clock.advance(by: .seconds(1))
    #expect(jar.cookies.isEmpty && jar.cookies(for: shop).isEmpty)
  }

  @Test func `descriptions of jars and cookies contain no values`() throws {
    let jar = CookieJar()
    try jar.set("session=planted1; Path=/; Domain=shop.test; Secure; SameSite=Lax", from: shop)
    try jar.set("planted2; Max-Age=60", from: shop)
    var dumped = ""
    dump(jar, to: &dumped)
    dump(jar.cookies, to: &dumped)
    let shown = "\(jar) \(jar.cookies) \(String(reflecting: jar.cookies)) \(String(reflecting: jar)) \(dumped)"
    #expect(!shown.contains("planted") && shown.contains("session of *.shop.test/, secure, same site: lax"))
    #expect("\(jar)" == "CookieJar(2 cookies)")
  }

  @Test func `descriptions of cookie policies and proxies contain no secrets`() {
    let policy = CookiePolicy.sending(["session": "planted"])
    let proxy = Proxy(host: "proxy.test", port: 3128, credential: Credential(user: "planted", password: "planted"))
    var dumped = ""
    dump(policy, to: &dumped)
    dump(proxy, to: &dumped)
    let shown = "\(policy) \(proxy) \(String(reflecting: policy)) \(String(reflecting: proxy)) \(dumped)"
    #expect(!shown.contains("planted") && "\(policy)" == "sending(session)")
  }

  @Test func `many tasks can use one jar concurrently`() async throws {
    let jar = CookieJar()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          for round in 0..<50 {
            try jar.set("c\(number)=\(round); Path=/", from: shop)
            _ = jar.cookies(for: shop)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(Set(jar.cookies.map { "\($0.name)=\($0.value)" }) == Set((0..<8).map { "c\($0)=49" }))
  }
}
