import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct LinkedURLTests {
  private func check(_ url: String, from sources: String...) throws(LinkedURL.Refusal) -> String {
    try LinkedURL(.known(url), from: sources.map { .known($0) }).url.absoluteString
  }

  @Test(arguments: [
    "https://shop.test/b", "https://other.test/b", "HTTPS://shop.test/b", "https://shop.test:8443/b?q#f",
  ]) func `follows a link from https to https on any host`(url: String) throws {
    #expect(try check(url, from: "https://shop.test/a") == url)
  }

  @Test(arguments: [
    "http://shop.test/", "http://localhost/", "http://127.0.0.1/", "http://[::1]/", "HTTP://shop.test/",
    "http://shop.test:443/",
  ]) func `never follows a link from https to http, not even to localhost`(url: String) {
    #expect(throws: LinkedURL.Refusal.downgrade) { try check(url, from: "https://shop.test/a") }
    #expect(throws: LinkedURL.Refusal.downgrade) { try check(url, from: "https://shop.test/a", "http://localhost/") }
    #expect(throws: LinkedURL.Refusal.downgrade) { try check(url, from: "myapp://a/") }
  }

  @Test func `follows a link from http to http or https`() throws {
    for url in ["http://localhost/b", "https://localhost/b"] {
      #expect(try check(url, from: "http://localhost/a") == url)
    }
  }

  @Test(arguments: [
    "ftp://shop.test/", "file:///etc/passwd", "data:,x", "javascript:x", "myapp://a", "/b", "https:///",
  ])
  func `follows links only to absolute http and https URLs`(url: String) {
    #expect(throws: LinkedURL.Refusal.self) { try check(url, from: "https://shop.test/a") }
  }

  @Test(arguments: [
    ("https://shop.test@evil.test/", "https://shop.test/a"), ("https://u:p@shop.test/", "https://shop.test/a"),
    ("https://@shop.test/", "https://shop.test/a"), ("https://u@evil.test/", "https://u@shop.test/a"),
    ("https://other@shop.test/", "https://u@shop.test/a"),
  ]) func `rejects a user name unless the source URL has the same user and origin`(url: String, source: String) throws {
    #expect(throws: LinkedURL.Refusal.user) { try check(url, from: source) }
    #expect(try check("https://u@shop.test/b", from: "https://u@shop.test/a") == "https://u@shop.test/b")
  }
}
