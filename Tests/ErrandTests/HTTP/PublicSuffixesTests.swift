import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct PublicSuffixesTests {
  private static let list = PublicSuffixes(
    list: Data(
      """
      // ===BEGIN ICANN DOMAINS===
      com
      uk
      co.uk\t// a remark
      *.ck
      !www.ck
      jp
      kawasaki.jp
      *.kawasaki.jp
      !city.kawasaki.jp
      cn\r
      公司.cn

      // ===BEGIN PRIVATE DOMAINS===
      github.io
      """.utf8))

  // publicsuffix.org, "Formal algorithm": the registrable domain is the suffix "plus one additional label".
  @Test(arguments: [
    ("example.com", "example.com"), ("a.b.example.com", "example.com"), ("com", nil),
    ("example.co.uk", "example.co.uk"),
    ("a.example.co.uk", "example.co.uk"), ("co.uk", nil), ("uk", nil), ("b.uk", "b.uk"),
    // "If no rules match, the prevailing rule is '*'."
    ("example.unlisted", "example.unlisted"), ("unlisted", nil), ("a.b.unlisted", "b.unlisted"),
    ("ck", nil), ("test.ck", nil), ("b.test.ck", "b.test.ck"), ("a.b.test.ck", "b.test.ck"),
    // "If more than one rule matches, the prevailing rule is the one which is an exception rule."
    ("www.ck", "www.ck"), ("www.www.ck", "www.ck"), ("c.kawasaki.jp", nil), ("b.c.kawasaki.jp", "b.c.kawasaki.jp"),
    ("city.kawasaki.jp", "city.kawasaki.jp"), ("a.city.kawasaki.jp", "city.kawasaki.jp"), ("kawasaki.jp", nil),
    ("me.github.io", "me.github.io"), ("github.io", nil), ("a.me.github.io", "me.github.io"),
    ("xn--55qx5d.cn", nil), ("shishi.xn--55qx5d.cn", "shishi.xn--55qx5d.cn"), ("example.cn", "example.cn"),
  ]) func `the registrable domain is the suffix plus one label`(host: String, domain: String?) {
    #expect(Self.list.registrableDomain(of: host) == domain)
    #expect(Self.list.isSuffix(host) == (domain == nil))
  }

  @Test(arguments: [
    ("localhost", nil), ("com", nil), ("example.com", "example.com"), ("co.uk", nil), ("shop.co.uk", "shop.co.uk"),
    ("a.shop.com.au", "shop.com.au"), ("me.github.io", "me.github.io"), ("a.b.shop.test", "shop.test"),
  ]) func `without a list, single labels and common second-level domains are suffixes`(host: String, domain: String?) {
    #expect(PublicSuffixes().registrableDomain(of: host) == domain)
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/usr/share/publicsuffix/public_suffix_list.dat")))
  func `reads the system's public suffix list`() {
    let system = PublicSuffixes.system
    #expect(system.isSuffix("co.uk") && system.isSuffix("github.io") && system.isSuffix("com"))
    #expect(system.isSuffix("any.kobe.jp") && !system.isSuffix("city.kobe.jp"))
    #expect(system.isSuffix("xn--55qx5d.cn"), "公司.cn in Punycode")
    #expect(system.registrableDomain(of: "www.example.co.uk") == "example.co.uk")
    #expect(system.isSuffix("kawasaki.miyagi.jp"), "only the system's list contains this suffix")
  }
}
