import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// `Link` fields (RFC 8288).
@Suite(.timeLimit(.minutes(1))) struct LinkTests {
  private func links(_ lines: String...) -> [Link] {
    Link.links(in: HTTPHeaders(lines.map { .init(.link, $0) }), of: .known("https://a.test/b/c?d#e"))
  }

  @Test(arguments: [
    // §3.5 and §3.1.
    (
      "<http://example.com/TheBook/chapter2>; rel=\"previous\"; title=\"previous chapter\"",
      "http://example.com/TheBook/chapter2"
    ),
    ("</>; rel=\"http://example.net/foo\"", "https://a.test/"), ("<?page=2>;rel=next", "https://a.test/b/c?page=2"),
    ("<>; rel=self", "https://a.test/b/c?d"), ("  <x>  ;  rel = next  ", "https://a.test/b/x"),
    ("<x,y;z>; rel=next", "https://a.test/b/x,y;z"), (",,<x>; rel=next,", "https://a.test/b/x"),
  ]) func `resolves a target against the response's URL`(line: String, target: String) {
    #expect(links(line).map(\.url.absoluteString) == [target])
  }

  @Test func `parses relations in any case, but only from the first rel parameter`() {
    #expect(links("<x>; rel=\"Next \tLAST next\"; rel=first").map(\.relations) == [["next", "last"]])
    #expect(links("<x>; title=none").map(\.relations) == [[]])
  }

  @Test func `combines the links of all field lines into one list`() {
    let all = links("<a>; rel=next; title=\"x, <y>; rel=no\", <b>; rel=last", "<c>")
    #expect(all.map(\.url.lastPathComponent) == ["a", "b", "c"] && all[0].parameters["title"] == "x, <y>; rel=no")
  }

  @Test func `unquotes parameters and decodes extended values`() {
    // RFC 8187 §3.2.3.
    let link = links("<x>; title*=UTF-8''%e2%82%ac%20rates; TITLE=\"a \\\"b\\\"\"; flag; type=text/html").first
    #expect(link?.parameters == ["title*": "€ rates", "title": "a \"b\"", "flag": "", "type": "text/html"])
    #expect(links("<x>; title*=iso-8859-1'en'%A3%20rates").first?.parameters["title*"] == "£ rates")
  }

  @Test func `skips a malformed parameter and keeps the other parameters`() {
    #expect(links("<x>; foo bar; rel=next").first?.relations == ["next"])
    #expect(links("<x> y; rel=next").first?.relations == ["next"])
    #expect(links("<x>; a]b=\";c\"; rel=\"next\" z; title=t, <y>; rel=last").map(\.relations) == [["next"], ["last"]])
    #expect(links("<x>; rel=\"next").first?.relations == ["next"])
    #expect(links("<x>; title=\"t\" z; rel=next").first?.parameters == ["title": "t"])
  }

  @Test(arguments: ["", "<x", "x>; rel=next", "rel=next", "<x>; anchor=\"#y\"; rel=next", "<http://[>; rel=next", "<"])
  func `skips invalid links and links with a different context`(line: String) { #expect(links(line).isEmpty) }

  @Test func `parses a hostile line in one pass`() {
    #expect(links(String(repeating: "<", count: 20_000)).isEmpty)
    #expect(links(String(repeating: "<a>;", count: 5_000)).count == 1)
    #expect(links(String(repeating: "<a>,", count: 5_000)).count == 5_000)
  }
}
