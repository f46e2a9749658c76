import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct SetCookieTests {
  @Test func `recognizes a leading dot or slash even if a combining character follows`() {
    let cookie = SetCookie("a=b; domain=.\u{301}x.test; path=/\u{301}")
    #expect(cookie.map { Array($0.domain.utf8) } == Array("\u{301}x.test".utf8))
    #expect(cookie?.path.map { Array($0.utf8) } == Array("/\u{301}".utf8))
  }

  private func pair(_ line: String) -> String? { SetCookie(line).map { "\($0.name)|\($0.value)" } }

  // RFC 6265bis §5.6: "If the name-value-pair string lacks a %x3D ("=") character, then the name string is empty, and
  // the value string is the value of name-value-pair." "Remove any leading or trailing WSP characters from the name
  // string and the value string."
  @Test(arguments: [
    ("a=b", "a|b"), ("a=b; Path=/", "a|b"), ("a=b=c", "a|b=c"), (" \ta \t= b c\t ;x", "a|b c"), ("a=", "a|"),
    ("=b", "|b"),
    ("b", "|b"), ("b;a=c", "|b"), ("a=\"b,c\"", "a|\"b,c\""), ("a=b\tc", "a|b\tc"), ("a=bü", "a|bü"), ("==b", "|=b"),
    ("a b=c", "a b|c"), ("a=b;;;", "a|b"),
  ]) func `splits the name and the value at the first equals sign`(line: String, expected: String) {
    #expect(pair(line) == expected)
  }

  // §5.6: "If the set-cookie-string contains a %x00-08 / %x0A-1F / %x7F character (CTL characters excluding HTAB):
  // Abort this algorithm and ignore the set-cookie-string entirely." §5.7: "If cookie-name is empty and cookie-value is
  // empty, abort".
  @Test(arguments: [
    "a=b\0", "a=b\u{1}; Path=/", "a=b; Path=/\u{1F}", "a=b\u{7F}", "a\u{8}=b", "a=b\r", "a=caf\u{FFFD}",
    "a=b; Path=/\u{FFFD}", "", "=", " = ", ";a=b",
  ])
  func `rejects a cookie that is empty or contains control characters or invalid text`(line: String) {
    #expect(pair(line) == nil)
  }

  // §5.6: "If the sum of the lengths of the name string and the value string is more than 4096 octets, abort this
  // algorithm".
  @Test func `limits the name and value to a total of 4,096 octets`() {
    #expect(SetCookie("ab=" + String(repeating: "c", count: 4094)) != nil)
    #expect(SetCookie("ab=" + String(repeating: "c", count: 4095)) == nil)
    #expect(SetCookie("ab=" + String(repeating: "ü", count: 2048)) == nil, "the limit is in octets, not characters")
    #expect(SetCookie("ab=c; x=" + String(repeating: "d", count: 1 << 20)) != nil)
  }

  // §5.6: "If the attribute-value is longer than 1024 octets, ignore the cookie-av string".
  @Test func `ignores an attribute whose value exceeds 1,024 octets`() {
    let most = "/" + String(repeating: "p", count: 1023)
    #expect(SetCookie("a=b; Path=\(most)")?.path == most)
    #expect(SetCookie("a=b; Path=/x; Path=\(most)p")?.path == "/x")
  }

  // §5.6.1: "If the attribute-value failed to parse as a cookie date, ignore the cookie-av." §5.6.2: "If the
  // attribute-value is empty, ignore the cookie-av." … "neither a DIGIT, nor a "-" character followed by a DIGIT,
  // ignore the cookie-av."
  @Test(arguments: [
    ("60", 60), ("0", 0), ("-5", -5), ("007", 7), ("99999999999999999999999999", 2_147_483_648),
    ("-99999999999999999999999999", -2_147_483_648),
  ]) func `parses Max-Age as seconds and clamps large values`(text: String, seconds: Int) {
    #expect(SetCookie("a=b; max-AGE = \(text) ")?.maxAge == seconds)
  }

  @Test(arguments: ["", "-", "+5", "5.0", "0x5", "5s", "5 5", "\"5\"", "--5", "٥"])
  func `ignores an invalid Max-Age or Expires`(text: String) {
    let cookie = SetCookie("a=b; Max-Age=7; Expires=6 Nov 1994 08:49:37; Max-Age=\(text); Expires=\(text)")
    #expect(cookie?.maxAge == 7 && cookie?.expires == Date(timeIntervalSince1970: 784_111_777))
  }

  // §5.6.3: "If cookie-domain starts with %x2E ("."), let cookie-domain be cookie-domain without its leading %x2E
  // ("."). Convert the cookie-domain to lower case."
  @Test func `lowercases a domain and removes one leading dot`() {
    #expect(SetCookie("a=b; Domain=.Shop.TEST")?.domain == "shop.test")
    #expect(SetCookie("a=b; Domain=shop.test; domain=b.test")?.domain == "b.test", "the last Domain attribute is used")
    #expect(SetCookie("a=b; Domain=shop.test; Domain")?.domain == "")
    #expect(SetCookie("a=b; Domain=..a")?.domain == ".a")
  }

  // §5.6.4: "If the attribute-value is empty or if the first character of the attribute-value is not %x2F ("/"): Let
  // cookie-path be the default-path."
  @Test func `replaces a path without a leading slash with the default path`() {
    #expect(SetCookie("a=b; Path=/x/y")?.path == "/x/y")
    for text in ["Path", "Path=", "Path=x", "Path=/x; Path=y"] {
      let cookie = SetCookie("a=b; \(text)")
      #expect(cookie?.path == nil && cookie?.statesPath == true)
    }
    #expect(SetCookie("a=b")?.statesPath == false)
  }

  // §5.6.5 and §5.6.6: the attribute is set "regardless of the attribute-value". §5.6.7 accepts Strict, Lax and None in
  // any case, and treats any other value as the default.
  @Test func `Secure and HttpOnly don't need a value, and SameSite has three valid values`() {
    let cookie = SetCookie("a=b; SECURE; httponly=no; samesite=STRICT")
    #expect(cookie?.isSecure == true && cookie?.isHTTPOnly == true && cookie?.sameSite == .strict)
    let plain = SetCookie("a=Secure; HttpOnly2; SameSite=Lax; SameSite=maybe")
    #expect(plain?.isSecure == false && plain?.isHTTPOnly == false && plain?.sameSite == nil)
    #expect(SetCookie("a=b; SameSite=None")?.sameSite == SameSite.none)
  }

  @Test func `parses random bytes without trapping`() {
    var random = SeededGenerator(seed: 7)
    let pieces = [
      "=", ";", " ", "\t", "a", "__Host-", "Path", "Max-Age", "-", "9", "Domain", ".", "/", "é", "\u{0}", ",",
    ]
    for _ in 0..<2000 {
      let line = (0..<Int.random(in: 0..<20, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
        .joined()
      let cookie = SetCookie(line)
      #expect(cookie == nil || !line.contains("\u{0}"), "\(line.debugDescription)")
    }
  }
}
