import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct URIReferenceTests {
  private func resolved(_ reference: String, _ base: String) -> String {
    URIReference(reference).resolved(against: URIReference(base)).text
  }

  // RFC 3986 §5.4: "Within a representation with a well defined base URI of http://a/b/c/d;p?q".
  private static let base = "http://a/b/c/d;p?q"

  @Test(arguments: [
    ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
    ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
    ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
    (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
    ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
    ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
    ("../../g", "http://a/g"),
  ])
  func `RFC 3986 §5.4.1: resolves the normal examples`(reference: String, target: String) {
    #expect(resolved(reference, Self.base) == target)
  }

  @Test(arguments: [
    // "Parsers must be careful in handling cases where there are more '..' segments than there are hierarchical
    // levels".
    ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"),
    // "parsers must remove the dot-segments '.' and '..' when they are complete components of a path".
    ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"),
    ("g..", "http://a/b/c/g.."), ("..g", "http://a/b/c/..g"),
    ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
    ("g/../h", "http://a/b/c/h"),
    ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
    // "some applications fail to separate the reference's query and/or fragment components from the path".
    ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
    ("g#s/../x", "http://a/b/c/g#s/../x"),
    // "for strict parsers".
    ("http:g", "http:g"),
  ])
  func `RFC 3986 §5.4.2: resolves the abnormal examples`(reference: String, target: String) {
    #expect(resolved(reference, Self.base) == target)
  }

  @Test(arguments: [
    // §5.2.3: "If the base URI has a defined authority component and an empty path".
    ("g", "http://a", "http://a/g"), ("?y", "http://a", "http://a?y"), ("g", "http://a?q", "http://a/g"),
    ("/a//../b", "http://a/", "http://a/a/b"), ("http://b/c/../d/./e", "http://a/", "http://b/d/e"),
    ("//b:8080/x", "https://a/y", "https://b:8080/x"), ("12:30", "http://a/b/c", "http://a/b/12:30"),
    ("HTTP://B/x", "http://a/", "HTTP://B/x"),
  ])
  func `RFC 3986 §5.2: resolves against a base without a path, and resolves names that look like schemes`(
    reference: String, base: String, target: String
  ) {
    #expect(resolved(reference, base) == target)
  }

  // RFC 3986 §6.2.2.2: a dot is unreserved, so an escaped dot is a dot.
  @Test(arguments: [
    ("%2e%2e/g", "http://a/b/g"), (".%2E/g", "http://a/b/g"), ("%2e./g", "http://a/b/g"), ("%2E/g", "http://a/b/c/g"),
    ("/public/%2e%2e/admin", "http://a/admin"), ("/x/%2e%2e", "http://a/"), ("/x/%2e%2e%2fg", "http://a/x/%2e%2e%2fg"),
    ("/x/%2e%2e%2e/g", "http://a/x/%2e%2e%2e/g"), ("/%2eg", "http://a/%2eg"),
    ("/%252e%252e/g", "http://a/%252e%252e/g"),
  ])
  func `RFC 3986 §6.2.2.2: treats an escaped dot as a dot`(reference: String, target: String) {
    #expect(resolved(reference, Self.base) == target)
  }

  // RFC 3986 §2.1: a percent-encoding represents "a data octet in a component when that octet's corresponding character
  // is outside the allowed set".
  @Test(arguments: [
    ("/a b", "http://a/a%20b"), ("/ä?ö#ü", "http://a/%C3%A4?%C3%B6#%C3%BC"), ("/a%20b%2Fc", "http://a/a%20b%2Fc"),
    ("/100%", "http://a/100%25"), ("/%zz", "http://a/%25zz"), ("/x?a[]=1", "http://a/x?a%5B%5D=1"),
    ("/\\evil.test/", "http://a/%5Cevil.test/"), ("/a\tb", "http://a/a%09b"), ("/a#b#c", "http://a/a#b%23c"),
    ("http://[::1]:80/[x]", "http://[::1]:80/%5Bx%5D"), ("/\u{301}g", "http://a/%CC%81g"),
  ])
  func `RFC 3986 §2.1: escapes characters that are not allowed in a URI and keeps existing escapes`(
    reference: String, target: String
  ) {
    #expect(resolved(reference, "http://a/b") == target)
    #expect(
      URL(string: target, encodingInvalidCharacters: false)?.absoluteString == target,
      "Foundation accepts the target unchanged")
  }
}

@Suite(.timeLimit(.minutes(1))) struct LocationTests {
  private func target(_ values: String..., from url: String = "https://shop.test/a/b?q#f") throws -> String? {
    var headers = HTTPHeaders()
    for value in values { headers.add(value, for: .location) }
    let source = URL.known(url)
    return try LinkedURL.target(in: headers, from: source).map { try LinkedURL($0, from: [source]).url.absoluteString }
  }

  // RFC 9110 §15.4: "If a Location header field (Section 10.2.2) is provided".
  @Test func `RFC 9110 §15.4: a redirect without Location has no target`() throws {
    #expect(try target() == nil)
  }

  // RFC 9110 §10.2.2: "a user agent MUST process the redirection as if the value inherits the fragment component of the
  // URI reference used to generate the target URI". The first two cases are the RFC's examples.
  @Test func `RFC 9110 §10.2.2: inherits the fragment unless the target has its own`() throws {
    #expect(
      try target("/People.html#tim", from: "http://www.example.org/~tim") == "http://www.example.org/People.html#tim")
    #expect(
      try target("http://www.example.net/index.html", from: "http://www.example.org/index.html#larry")
        == "http://www.example.net/index.html#larry")
    #expect(try target("c#g") == "https://shop.test/a/c#g")
    #expect(try target("c#") == "https://shop.test/a/c#")
  }

  // RFC 9110 §4.2.4: "a recipient SHOULD parse for userinfo and treat its presence as an error".
  @Test(arguments: ["https://shop.test@evil.test/", "//user:pass@shop.test/", "https://@shop.test/"])
  func `RFC 9110 §4.2.4: rejects a user name in Location`(value: String) {
    #expect(throws: LinkedURL.Refusal.user) { try target(value) }
  }

  @Test func `keeps the request URL's user name for a target at the same origin`() throws {
    #expect(try target("/c", from: "https://me@shop.test/a") == "https://me@shop.test/c")
  }

  // RFC 9110 §5.3: "a sender MUST NOT generate multiple field lines with the same name in a message".
  @Test func `RFC 9110 §5.3: rejects different Location lines and accepts equal ones`() throws {
    #expect(throws: LinkedURL.Refusal.several(.location)) { try target("/a", "/b") }
    #expect(try target("/c", "/c") == "https://shop.test/c#f")
  }
}
