import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Storing and sending cookies (RFC 6265bis §5.7 and §5.8).
@Suite(.timeLimit(.minutes(1))) struct CookieShelfTests {
  // §5.8.3, step 2: "Cookies with longer paths are listed before cookies with shorter paths. Among cookies that have
  // equal-length path fields, cookies with earlier creation-times are listed before cookies with later creation-times."
  @Test func `sends cookies with longer paths first, then older cookies`() {
    var world = CookieWorld()
    world.set("a=1; Path=/", at: "https://www.shop.test/")
    world.set("b=2; Path=/x/y", at: "https://www.shop.test/")
    world.set("c=3; Path=/", at: "https://www.shop.test/")
    world.pass(1)
    world.set("d=4; Path=/x; Domain=shop.test", at: "https://www.shop.test/")
    world.set("e=5; Path=/; Domain=shop.test", at: "https://www.shop.test/")
    #expect(world.line("https://www.shop.test/x/y") == "b=2; d=4; a=1; c=3; e=5")
    #expect(world.line("https://www.shop.test/x") == "d=4; a=1; c=3; e=5")
    #expect(world.line("https://www.shop.test/xy") == "a=1; c=3; e=5")
  }

  // §5.7, step 23: "If the cookie store contains a cookie with the same name, domain, host-only-flag, and path as the
  // newly created cookie: … Update the creation-time of the newly created cookie to match the creation-time of the
  // old-cookie."
  @Test func `a replaced cookie keeps its position`() {
    var world = CookieWorld()
    world.set("a=1; Path=/", at: "https://shop.test/")
    world.set("b=2; Path=/", at: "https://shop.test/")
    world.pass(5)
    world.set("a=3; Path=/", at: "https://shop.test/")
    #expect(world.line("https://shop.test/") == "a=3; b=2")
    world.set("a=4; Path=/; Domain=shop.test", at: "https://shop.test/")
    #expect(world.line("https://shop.test/") == "a=3; b=2; a=4", "a domain cookie is a separate cookie")
    world.set("A=5; Path=/", at: "https://shop.test/")
    #expect(world.line("https://shop.test/") == "a=3; b=2; a=4; A=5", "names are case-sensitive")
  }

  // §5.8.3, step 4: "If the cookies' name is not empty, output the cookie's name followed by the %x3D ("=") character."
  @Test func `sends only the value of a cookie without a name`() {
    var world = CookieWorld()
    world.set("abc", at: "https://shop.test/")
    #expect(world.line("https://shop.test/") == "abc")
  }

  // §5.7: "A cookie is "expired" if the cookie has an expiry date in the past."
  @Test func `neither sends nor keeps an expired cookie`() {
    var world = CookieWorld()
    world.set("a=1; Max-Age=60", at: "https://shop.test/")
    world.set("b=2; Max-Age=61", at: "https://shop.test/")
    world.pass(59.5)
    #expect(world.line("https://shop.test/") == "a=1; b=2")
    world.pass(0.5)
    #expect(world.line("https://shop.test/") == "b=2" && world.storage.count == 1)
  }

  // §5.8.3, step 1: "If the cookie's same-site-flag is not "None" and the retrieval's same-site status is "cross-site",
  // then exclude the cookie unless … The same-site-flag is "Lax" or "Default" [and] the HTTP request … uses a "safe"
  // method".
  @Test func `sends no Strict cookies cross-site and sends Lax cookies only with safe methods`() {
    var world = CookieWorld()
    for line in ["s=1; SameSite=Strict", "l=2; SameSite=Lax", "d=3", "n=4; SameSite=None; Secure"] {
      world.set(line, at: "https://shop.test/")
    }
    #expect(world.line("https://shop.test/") == "s=1; l=2; d=3; n=4", "the call started at the same site")
    #expect(world.line("https://shop.test/", from: "https://www.shop.test/") == "s=1; l=2; d=3; n=4")
    #expect(world.line("https://shop.test/", from: "https://evil.test/") == "l=2; d=3; n=4")
    #expect(world.line("https://shop.test/", isSafe: false, from: "https://evil.test/") == "n=4")
    #expect(world.line("https://shop.test/", isSafe: false, from: "https://shop.test/a") == "s=1; l=2; d=3; n=4")
    #expect(
      world.line("https://shop.test/", from: "http://shop.test/") == "l=2; d=3; n=4", "the http URL is another site")
  }

  // §5.7: "a predetermined upper bound (such as 50 cookies)" per domain; "excess cookies … in the following priority
  // order: 1. Expired cookies. 2. Cookies whose secure-only-flag is false, and which share a domain field with more
  // than a predetermined number of other cookies. 3. Cookies which share a domain field … 4. All cookies."
  @Test func `evicts a full domain's expired cookies first, then cookies that are not secure`() {
    var world = CookieWorld(.init(perDomain: 3, overall: 100))
    world.set("s1=1; Secure", at: "https://shop.test/")
    world.pass(1)
    world.set("a=1", at: "https://shop.test/")
    world.set("x=1; Max-Age=1", at: "https://shop.test/")
    world.pass(2)
    world.set("s2=1; Secure", at: "https://shop.test/")
    #expect(world.line("https://shop.test/") == "s1=1; a=1; s2=1", "x has expired")
    world.set("s3=1; Secure", at: "https://shop.test/")
    #expect(world.line("https://shop.test/") == "s1=1; s2=1; s3=1", "a is not secure")
    world.pass(1)
    _ = world.line("https://shop.test/")
    world.set("b=1", at: "https://shop.test/")
    #expect(world.line("https://shop.test/") == "s1=1; s2=1; s3=1", "the new cookie is not secure either")
    world.set("s4=1; Secure", at: "https://shop.test/")
    #expect(
      world.line("https://shop.test/") == "s2=1; s3=1; s4=1",
      "all three were last used at the same time, and s1 is the oldest")
  }

  // §5.7: "If two cookies have the same removal priority, the user agent MUST evict the cookie with the earliest
  // last-access-time first."
  @Test func `evicts the least recently used of several cookies with equal priority`() {
    var world = CookieWorld(.init(perDomain: 3, overall: 4))
    for path in ["x", "y", "z"] {
      world.set("\(path)=1; Path=/\(path)", at: "https://shop.test/")
      world.pass(1)
    }
    _ = world.line("https://shop.test/x")
    world.pass(1)
    world.set("w=1; Path=/w", at: "https://shop.test/")
    #expect(world.line("https://shop.test/y") == "" && world.line("https://shop.test/x") == "x=1")
    world.pass(1)
    world.set("a=1", at: "https://a.test/")
    #expect(world.storage.count == 4)
    world.set("b=1", at: "https://b.test/")
    #expect(world.storage.count == 4 && world.line("https://shop.test/z") == "", "z has not been used since it was set")
    #expect(world.line("https://a.test/") == "a=1" && world.line("https://b.test/") == "b=1")
  }

  @Test func `keeps 50 cookies per domain and 3000 in total`() {
    var world = CookieWorld()
    for number in 0..<60 { world.set("c\(number)=1", at: "https://shop.test/") }
    #expect(world.storage.count == 50 && world.line("https://shop.test/").hasPrefix("c10=1; c11=1"))
    for number in 0..<70 {
      for index in 0..<50 { world.set("c\(index)=1", at: "https://h\(number).test/") }
    }
    #expect(world.storage.count == 3000)
    #expect(world.line("https://h69.test/").count > 100 && world.line("https://shop.test/") == "")
  }

  @Test func `limits the size of the Cookie header despite large cookies from a sibling host`() {
    var world = CookieWorld()
    for number in 0..<40 {
      world.set(
        "big\(number)=\(String(repeating: "x", count: 4000)); Domain=shop.test; Path=/a", at: "https://evil.shop.test/")
    }
    world.set("session=1; Path=/", at: "https://shop.test/")
    let line = world.line("https://shop.test/a")
    #expect(line.utf8.count <= CookieStorage.maximumHeaderSize && line.hasSuffix("; session=1"))
  }

  @Test func `random changes keep the number of cookies within the limits`() {
    var random = SeededGenerator(seed: 7)
    var world = CookieWorld(.init(perDomain: 5, overall: 12))
    for _ in 0..<3000 {
      let host =
        ["a.shop.test", "b.shop.test", "shop.test", "evil.test", "10.0.0.1"].randomElement(using: &random) ?? ""
      let domain = ["", "; Domain=shop.test", "; Domain=a.shop.test"].randomElement(using: &random) ?? ""
      let age = ["", "; Max-Age=5", "; Max-Age=0"].randomElement(using: &random) ?? ""
      let secure = Bool.random(using: &random) ? "; Secure" : ""
      let scheme = Bool.random(using: &random) ? "https" : "http"
      world.set("n\(Int.random(in: 0..<8, using: &random))=v\(domain)\(age)\(secure)", at: "\(scheme)://\(host)/")
      world.pass(Double.random(in: 0..<2, using: &random))
      let all = world.storage.cookies(at: world.now)
      #expect(all.count <= world.storage.count && world.storage.count <= 12)
      #expect(Dictionary(grouping: all, by: \.domain).values.allSatisfy { $0.count <= 5 })
      #expect(Set(all.map(\.id)).count == all.count)
    }
    world.pass(10)
    for cookie in world.storage.cookies(at: world.now) { world.storage.remove(cookie.id, at: world.now) }
    for url in ["https://a.shop.test/", "https://b.shop.test/", "https://evil.test/", "https://10.0.0.1/"] {
      #expect(world.line(url) == "")
    }
    #expect(world.storage.isEmpty)
  }

  @Test func `limits the number of pending changes, but keeps changes to stored cookies`() throws {
    var storage = CookieStorage(.init(perDomain: 5, overall: 10), isJournaled: true)
    let target = try #require(CookieTarget(.known("https://shop.test/")))
    for number in 0..<1000 {
      let field = try #require(SetCookie("c\(number)=1; Max-Age=1000; Path=/"))
      let cookie = try Cookie(field, from: target, now: .distantPast, .system)
      let isKept = storage.keep(cookie, from: target, now: .distantPast)
      #expect(isKept)
      #expect(storage.journal?.count ?? 0 <= 20)
    }
    let changes = storage.takeJournal()
    let written = CookieStorage.merged([], changes, now: .distantPast)
    #expect(written.map(\.name).sorted() == ["c995", "c996", "c997", "c998", "c999"])
  }
}
